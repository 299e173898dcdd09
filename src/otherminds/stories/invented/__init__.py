"""Stories that minds run forward make up, how they are told, and how they look to a video model."""
