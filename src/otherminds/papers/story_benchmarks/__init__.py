"""The public benchmarks of stories and questions in one table: answers, shortcuts, and contradicted labels."""
