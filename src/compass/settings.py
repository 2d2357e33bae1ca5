"""Every default, with its source."""

from typing import Literal

from pydantic import Field

from compass.domain.base import Noun


class LossWeights(Noun):
    """The weights of the C3G loss."""

    proximity: float = Field(1.0, ge=0)  # COMPASS V-B: all weights 1
    constraint: float = Field(1.0, ge=0)  # COMPASS V-B
    diversity: float = Field(1.0, ge=0)  # COMPASS V-B


class ForestSettings(Noun):
    """The Random Forest and Extra Trees surrogates."""

    trees: int = Field(100, ge=1)  # scikit-learn's default
    depth: int = Field(12, ge=1)  # DESIGN: costs little accuracy, keeps proofs possible
    leaf: int = Field(1, ge=1)
    features: float = Field(1.0, gt=0, le=1)  # share of the columns tried at each split


class LightGBMSettings(Noun):
    """The LightGBM surrogate; LightGBM's defaults but for rounds and leaf (decision 0014)."""

    rounds: int = Field(300, ge=1)  # num_iterations
    leaves: int = Field(31, ge=2)  # num_leaves
    rate: float = Field(0.1, gt=0, le=1)  # learning_rate
    leaf: int = Field(5, ge=1)  # min_data_in_leaf
    ridge: float = Field(0.0, ge=0)  # lambda_l2
    features: float = Field(1.0, gt=0, le=1)  # feature_fraction_bynode


class XGBoostSettings(Noun):
    """The XGBoost surrogate; all are XGBoost's defaults."""

    rounds: int = Field(100, ge=1)  # n_estimators
    depth: int = Field(6, ge=1)  # max_depth
    rate: float = Field(0.3, gt=0, le=1)  # learning_rate
    leaf: float = Field(1.0, ge=0)  # min_child_weight
    ridge: float = Field(1.0, ge=0)  # reg_lambda
    features: float = Field(1.0, gt=0, le=1)  # colsample_bynode


class LinearSettings(Noun):
    """The Ridge and logistic regression surrogate."""

    ridge: float = Field(1.0, gt=0)  # scikit-learn's default
    pairs: bool = False  # products of two columns too


class NeighbourSettings(Noun):
    """The nearest-neighbours surrogate."""

    count: int = Field(5, ge=1)  # scikit-learn's default
    by_distance: bool = True  # nearer runs count more


class KernelSettings(Noun):
    """The support vector surrogate."""

    cost: float = Field(10.0, gt=0)  # C
    width: float = Field(1.0, gt=0)  # gamma, in units of scikit-learn's "scale"
    margin: float = Field(0.01, ge=0)  # epsilon, in standard deviations of the outcome


class NeuralSettings(Noun):
    """The multi-layer perceptron surrogate."""

    layers: int = Field(3, ge=1, le=8)
    units: int = Field(64, ge=2)
    rate: float = Field(6e-3, gt=0)
    epochs: int = Field(400, ge=1)  # at most; it stops when its own held-out rows stop improving
    decay: float = Field(1e-4, ge=0)
    members: int = Field(2, ge=1)  # networks whose mean is the prediction


class EmbeddingSettings(Noun):
    """Learned representations."""

    width: int = Field(8, ge=1)  # columns that come out
    epochs: int = Field(100, ge=1)
    steps: int = Field(3, ge=1)  # TabNet: decision steps of the sequential attention
    relax: float = Field(1.5, ge=1)  # TabNet: gamma; 1: a column is attended to once
    sparsity: float = Field(1e-3, ge=0)  # TabNet: price of attending to many columns
    units: int = Field(64, ge=2)  # in each hidden layer of the autoencoders
    divergence: float = Field(0.1, ge=0)  # weight that the VAE's KL term grows to
    downstream: float = Field(1.0, ge=0)  # of the outcome in the later half of the VAE; 0: none
    rows: int = Field(50_000, ge=32)  # learnt from at most; more tell a representation little


class SelectSettings(Noun):
    """Which family learns an outcome best."""

    seconds: float = Field(60.0, gt=0)  # for one outcome; families beyond it are not tried
    folds: int = Field(5, ge=2)  # COMPASS III-A: five-fold cross-validation
    tie: float = Field(0.02, ge=0)  # this much more error is no reason to lose proofs
    hopeless: float = Field(1.3, ge=1)  # more than this times the best error after a fold: stopped


class TrustSettings(Noun):
    """Algorithm 1."""

    neighbours: int = Field(20, ge=1)  # COMPASS III-C1: k
    close_percentile: float = Field(5.0, gt=0, le=100)  # COMPASS III-C1: tau_close
    tau: float | None = Field(None, ge=0)  # a distance instead of the percentile
    models: int = Field(5, ge=2)  # COMPASS III-C2: P
    trees: int = Field(10, ge=1)  # per perturbed model; 20 rank errors no better and cost twice
    jitter: float = Field(0.05, ge=0)  # perturbation of numbers, in standard deviations
    caution: float = Field(0.95, gt=0, lt=1)  # COMPASS Algorithm 1
    unsupported: float = Field(0.99, gt=0, lt=1)  # COMPASS Algorithm 1
    validation_rows: int = Field(2000, ge=1)  # enough for a stable 99th percentile
    evidence: int = Field(5, ge=0)  # supporting runs listed in an answer
    pairs: int = Field(3, ge=1)  # comparable pairs that make an effect observed
    tolerance: float = Field(1.0, ge=0)  # how far other columns of a pair may differ, in distances
    agreement: float = Field(2 / 3, gt=0.5, le=1)  # share of the pairs that has to agree
    chance: float = Field(0.8, ge=0, le=1)  # a goal that is less likely met is at most caution


class ReduceSettings(Noun):
    """Uncertainty-guided, loss-proportional sampling (COMPASS III-A)."""

    pilot: int = Field(32_768, ge=64)  # rows that the pilot model learns from at most
    pool: int = Field(65_536, ge=64)  # rows looked at to find them, from all over the source
    places: int = Field(64, ge=1)  # fragments that the pool is taken from at most
    floor: float = Field(0.4, gt=0, le=1)  # share of the chance that all rows have alike
    outcomes: int = Field(4, ge=1)  # that guide the choice at most; each costs a pass of trees
    trees: int = Field(24, ge=1, le=64)
    depth: int = Field(6, ge=1, le=8)  # a leaf is a byte
    rate: float = Field(0.3, gt=0, le=1)
    bins: int = Field(32, ge=2, le=255)


class SearchSettings(Noun):
    """The population search."""

    population: int = Field(128, ge=8)
    generations: int = Field(16, ge=0)
    patience: int = Field(2, ge=1)  # generations without a better candidate that end the search
    enumerate: int = Field(20_000, ge=1)  # below this many configurations: try them all
    tuples: int = Field(200_000, ge=1)  # largest table of legal value combinations per rule group
    contexts: int = Field(16, ge=1)  # past contexts that recommend averages over
    distinct: float = Field(0.05, ge=0)  # least distance between two suggestions
    budget: float = Field(0.5, ge=0)  # extra distance a more diverse suggestion may cost
    tolerance: float = Field(0.01, ge=0)  # share of the best value that counts as reaching it


class Settings(Noun):
    """Everything that can be tuned, in one place."""

    loss: LossWeights = LossWeights()
    forest: ForestSettings = ForestSettings()
    lightgbm: LightGBMSettings = LightGBMSettings()
    xgboost: XGBoostSettings = XGBoostSettings()
    linear: LinearSettings = LinearSettings()
    neighbours: NeighbourSettings = NeighbourSettings()
    kernel: KernelSettings = KernelSettings()
    neural: NeuralSettings = NeuralSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    select: SelectSettings = SelectSettings()
    trust: TrustSettings = TrustSettings()
    reduce: ReduceSettings = ReduceSettings()
    search: SearchSettings = SearchSettings()
    validation_share: float = Field(0.2, gt=0, lt=1)  # COMPASS III-A: 80/20
    count: int = Field(3, ge=1)  # suggestions per answer
    seed: int = Field(7, ge=0, lt=2**32)
    same: float = Field(0.05, gt=0)  # "keep Y the same": within this share of it
    prove: float = Field(1.0, ge=0)  # seconds for the proof of an answer; 0: no proof
    deadline: float = Field(30.0, gt=0)  # seconds for a whole question on a fitted engine
    interval: float = Field(0.9, gt=0, lt=1)  # level of the printed intervals
    query_characters: int = Field(8000, ge=100)  # longer texts are refused
    query_depth: int = Field(200, ge=5)  # deeper nesting is refused
    keep: float = Field(1.0, gt=0, le=1)  # share of the runs to learn from
    reducer: str = "uniform"
    surrogate: str = "auto"  # the family that cross-validates best
    scale: Literal["auto", "linear", "log"] = "auto"  # of outcomes; auto: what validates better
    represent: str | None = None  # an embedding to try in front of the model, or "auto"
    tune: float = Field(0.0, ge=0)  # seconds to look for better settings of a model; 0: none
    threads: int = Field(0, ge=0)  # processors for training; 0: all
    generator: str = "c3g"
