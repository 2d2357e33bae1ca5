"""What an engine knows already, for a person who asks: past runs, what matters, how well it knows.

Nothing is searched for. The text of what is found has few lines; its fields have all of it.
"""

from compass.chat.draft import Inquiry, Topic
from compass.chat.known_models import importance, models
from compass.chat.known_runs import best_run, one_run, two_runs
from compass.domain.findings import Findings
from compass.engine.compass import Compass


def look_up(engine: Compass, inquiry: Inquiry) -> Findings:
    """What the engine knows about this. Only what matters and how well need models."""
    match inquiry.topic:
        case Topic.BEST_RUN:
            return best_run(engine, inquiry)
        case Topic.ROW:
            return one_run(engine, inquiry)
        case Topic.COMPARE:
            return two_runs(engine, inquiry)
        case Topic.IMPORTANCE:
            return importance(engine, inquiry.outcome)
        case Topic.CERTAINTY:
            return models(engine, inquiry.outcome)
