"""How long a job would wait in the queue, learnt from past jobs and the queue that they met."""
