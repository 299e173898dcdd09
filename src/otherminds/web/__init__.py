"""The live web app: watch minds being read, play, and run studies with people."""
