"""In the day of a scheduler: advice for people who submit, reports, and a simulator of queues."""
