"""The two-player study of facilitators: plan, simulated participants, exports, scores, report."""
