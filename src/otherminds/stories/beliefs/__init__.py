"""False-belief stories: who witnesses what, and nested beliefs."""
