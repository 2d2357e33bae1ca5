"""Every default, with its source."""

from typing import Literal

from pydantic import Field

from compass.domain import option
from compass.domain.base import Input, Real, Whole, valid
from compass.domain.errors import StudyProblem
from compass.domain.option import TRUST
from compass.domain.study import TrustChoice


class LossWeights(Input):
    """The weights of the C3G loss; `valid` is of use to the generator `c3g` only."""

    valid: Real = Field(1.0, ge=0)  # COMPASS V-B: all weights 1
    proximity: Real = Field(1.0, ge=0)  # COMPASS V-B
    constraint: Real = Field(1.0, ge=0)  # COMPASS V-B
    diversity: Real = Field(1.0, ge=0)  # COMPASS V-B


class ForestSettings(Input):
    """The Random Forest and Extra Trees surrogates."""

    trees: Whole = Field(100, ge=1)  # scikit-learn's default
    depth: Whole = Field(12, ge=1)  # DESIGN: costs little accuracy, keeps proofs possible
    leaf: Whole = Field(1, ge=1)
    features: Real = Field(1.0, gt=0, le=1)  # share of the columns tried at each split


class LightGBMSettings(Input):
    """The LightGBM surrogate; LightGBM's defaults but for rounds and leaf (decision 0014)."""

    rounds: Whole = Field(300, ge=1)  # num_iterations
    leaves: Whole = Field(31, ge=2)  # num_leaves
    rate: Real = Field(0.1, gt=0, le=1)  # learning_rate
    leaf: Whole = Field(5, ge=1)  # min_data_in_leaf
    ridge: Real = Field(0.0, ge=0)  # lambda_l2
    features: Real = Field(1.0, gt=0, le=1)  # feature_fraction_bynode


class XGBoostSettings(Input):
    """The XGBoost surrogate; all are XGBoost's defaults."""

    rounds: Whole = Field(100, ge=1)  # n_estimators
    depth: Whole = Field(6, ge=1)  # max_depth
    rate: Real = Field(0.3, gt=0, le=1)  # learning_rate
    leaf: Real = Field(1.0, ge=0)  # min_child_weight
    ridge: Real = Field(1.0, ge=0)  # reg_lambda
    features: Real = Field(1.0, gt=0, le=1)  # colsample_bynode


class LinearSettings(Input):
    """The Ridge and logistic regression surrogate."""

    ridge: Real = Field(1.0, gt=0)  # scikit-learn's default
    pairs: bool = False  # products of two columns too


class NeighbourSettings(Input):
    """The nearest-neighbours surrogate."""

    count: Whole = Field(5, ge=1)  # scikit-learn's default
    by_distance: bool = True  # nearer runs count more


class KernelSettings(Input):
    """The support vector surrogate."""

    cost: Real = Field(10.0, gt=0)  # C
    width: Real = Field(1.0, gt=0)  # gamma, in units of scikit-learn's "scale"
    margin: Real = Field(0.01, ge=0)  # epsilon, in standard deviations of the outcome


class NeuralSettings(Input):
    """The multi-layer perceptron surrogate."""

    layers: Whole = Field(3, ge=1, le=8)
    units: Whole = Field(64, ge=2)
    rate: Real = Field(6e-3, gt=0)
    epochs: Whole = Field(400, ge=1)  # at most; it stops when its own held-out rows stop improving
    decay: Real = Field(1e-4, ge=0)
    members: Whole = Field(2, ge=1)  # networks whose mean is the prediction


class EmbeddingSettings(Input):
    """Learned representations."""

    width: Whole = Field(8, ge=1)  # columns that come out
    epochs: Whole = Field(100, ge=1)
    steps: Whole = Field(3, ge=1)  # TabNet: decision steps of the sequential attention
    relax: Real = Field(1.5, ge=1)  # TabNet: gamma; 1: a column is attended to once
    sparsity: Real = Field(1e-3, ge=0)  # TabNet: price of attending to many columns
    units: Whole = Field(64, ge=2)  # in each hidden layer of the autoencoders
    divergence: Real = Field(0.1, ge=0)  # weight that the VAE's KL term grows to
    downstream: Real = Field(1.0, ge=0)  # of the outcome in the later half of the VAE; 0: none
    rows: Whole = Field(50_000, ge=32)  # learnt from at most; more tell a representation little


class SelectSettings(Input):
    """Which family learns an outcome best."""

    work: Real = Field(60.0, gt=0)  # for one outcome: seconds on one core, as families estimate it
    folds: Whole = Field(5, ge=2)  # COMPASS III-A: five-fold cross-validation
    tie: Real = Field(0.02, ge=0)  # this much more error is no reason to lose proofs
    hopeless: Real = Field(1.15, ge=1)  # more than this times the best error after a fold: stopped


class TrustSettings(Input):
    """Algorithm 1."""

    neighbours: Whole = Field(20, **TRUST["neighbours"].limits)  # COMPASS III-C1: k
    close_percentile: Real = Field(5.0, **TRUST["close_percentile"].limits)  # III-C1: tau_close
    tau: Real | None = Field(None, **TRUST["tau"].limits)  # a distance instead of the percentile
    models: Whole = Field(5, ge=2)  # COMPASS III-C2: P
    trees: Whole = Field(10, ge=1)  # per perturbed model; 20 rank errors no better and cost twice
    jitter: Real = Field(0.05, ge=0)  # perturbation of numbers, in standard deviations
    caution: Real = Field(0.95, **TRUST["caution"].limits)  # COMPASS Algorithm 1
    unsupported: Real = Field(0.99, **TRUST["unsupported"].limits)  # COMPASS Algorithm 1
    validation_rows: Whole = Field(2000, ge=1)  # enough for a stable 99th percentile
    evidence: Whole = Field(5, ge=0)  # supporting runs listed in an answer
    pairs: Whole = Field(3, ge=1)  # comparable pairs that make an effect observed
    tolerance: Real = Field(1.0, ge=0)  # how far other columns of a pair may differ, in distances
    agreement: Real = Field(2 / 3, gt=0.5, le=1)  # share of the pairs that has to agree


class ReduceSettings(Input):
    """Uncertainty-guided, loss-proportional sampling (COMPASS III-A)."""

    pilot: Whole = Field(32_768, ge=64)  # rows that the pilot model learns from at most
    pool: Whole = Field(65_536, ge=64)  # rows looked at to find them, from all over the source
    places: Whole = Field(64, ge=1)  # fragments that the pool is taken from at most
    floor: Real = Field(0.4, gt=0, le=1)  # share of the chance that all rows have alike
    outcomes: Whole = Field(4, ge=1)  # that guide the choice at most; each costs a pass of trees
    trees: Whole = Field(24, ge=1, le=64)
    depth: Whole = Field(6, ge=1, le=8)  # a leaf is a byte
    rate: Real = Field(0.3, gt=0, le=1)
    bins: Whole = Field(32, ge=2, le=255)


class SearchSettings(Input):
    """The population search."""

    population: Whole = Field(128, ge=8)
    generations: Whole = Field(16, ge=0)
    patience: Whole = Field(2, ge=1)  # generations without a better candidate that end the search
    enumerate: Whole = Field(20_000, ge=1)  # below this many configurations: try them all
    tuples: Whole = Field(200_000, ge=1)  # largest table of legal value combinations per rule group
    contexts: Whole = Field(16, ge=1)  # past contexts that recommend averages over
    distinct: Real = Field(0.05, ge=0)  # least distance between two suggestions
    budget: Real = Field(0.5, ge=0)  # extra distance a more diverse suggestion may cost
    tolerance: Real = Field(0.01, ge=0)  # share of the best value that counts as reaching it


class LoopSettings(Input):
    """The choice of runs in the experiment loop; the switches at its end are for ablation.

    Chosen on `benchmarks/loop` with seeds from 1000 on (decision 0044).
    """

    starts: Whole = Field(20, ge=0)  # spread runs made before anything is modelled
    sweep: Whole = Field(200, ge=0)  # a space of at most this many configurations is swept
    complete: Whole = Field(200_000, ge=1)  # up to this many legal configurations all are listed
    scored: Whole = Field(8_000, ge=64)  # candidates that are predicted at an ask, about
    drawn: Whole = Field(4_000, ge=64)  # of those, from anywhere, where not all can be listed
    shortlist: Whole = Field(1024, ge=16)  # of them, those whose improvement is worked out exactly
    parents: Whole = Field(8, ge=1)  # best runs whose one-change neighbours are candidates
    learnt: Whole = Field(400, ge=16)  # runs that the process learns from at most
    tuned: Whole = Field(200, ge=16)  # runs that its settings are fitted to at most
    trees: Whole = Field(24, ge=2)
    worthwhile: Real = Field(0.001, ge=0)  # stop below this expected improvement, a share
    smooth: bool = True  # the smooth Gaussian process is a member
    stepped: bool = True  # the Gaussian process with steps is a member
    forest: bool = True  # Extra Trees are a member
    soften: bool = True  # stepped process and forest: less between outcomes above the median
    failures: bool = True  # the probability of failure is learnt
    credit: bool = True  # members propose more often the more they found
    transfer: bool = True  # history is used where there is any


class TreeSynthesisSettings(Input):
    """Sequential trees with donors."""

    least: Whole = Field(5, ge=1)  # rows of a leaf: synthpop's minbucket
    gain: Real = Field(1e-8, ge=0)  # share of the variance that a split must explain: synthpop's cp


class AdversarialSynthesisSettings(Input):
    """A conditional tabular GAN; the values are those of CTGAN (Xu et al. 2019), section 4."""

    epochs: Whole = Field(300, ge=1)
    batch: Whole = Field(500, ge=2)
    steps: Whole = Field(1, ge=1)  # of the discriminator for each one of the generator
    pack: Whole = Field(10, ge=1)  # rows that the discriminator judges together (PacGAN)
    latent: Whole = Field(128, ge=1)
    units: Whole = Field(256, ge=1)  # of each of the two hidden layers
    rate: Real = Field(2e-4, gt=0)
    decay: Real = Field(1e-6, ge=0)
    penalty: Real = Field(10.0, ge=0)  # weight of the gradient penalty (WGAN-GP)
    temperature: Real = Field(0.2, gt=0)  # of the Gumbel softmax


class VariationalSynthesisSettings(Input):
    """A tabular variational autoencoder; the values are those of TVAE (Xu et al. 2019)."""

    epochs: Whole = Field(300, ge=1)
    batch: Whole = Field(500, ge=1)
    latent: Whole = Field(128, ge=1)
    units: Whole = Field(128, ge=1)  # of each of the two hidden layers
    rate: Real = Field(1e-3, gt=0)
    decay: Real = Field(1e-5, ge=0)
    weight: Real = Field(2.0, gt=0)  # of the reconstruction beside the divergence


class LanguageSynthesisSettings(Input):
    """A language model of rows (GReaT, Borisov et al. 2023); by default a small one of its own."""

    model: str | None = None  # a directory: config.json, model.safetensors, tokenizer.json
    epochs: Whole = Field(100, ge=1)
    batch: Whole = Field(32, ge=1)
    rate: Real = Field(1e-3, gt=0)  # of a network that begins with nothing
    further_rate: Real = Field(5e-5, gt=0)  # of one that is taught further: GReaT's
    temperature: Real = Field(0.7, gt=0)  # GReaT's
    width: Whole = Field(128, ge=2)
    layers: Whole = Field(4, ge=1)
    heads: Whole = Field(4, ge=1)
    vocabulary: Whole = Field(1000, ge=300, le=100_000)  # tokens at most, about


class SynthesisSettings(Input):
    """How synthetic rows are learnt and drawn."""

    cart: TreeSynthesisSettings = TreeSynthesisSettings()
    ctgan: AdversarialSynthesisSettings = AdversarialSynthesisSettings()
    tvae: VariationalSynthesisSettings = VariationalSynthesisSettings()
    great: LanguageSynthesisSettings = LanguageSynthesisSettings()
    modes: Whole = Field(10, ge=1)  # most modes of a number in ctgan and tvae (CTGAN, section 4.2)
    sweeps: Whole = Field(25, ge=1)  # of the Gibbs sampler of the copula where ranges are given
    pool: Whole = Field(20_000, ge=100)  # rows from which networks answer conditions
    effort: Whole = Field(100, ge=1)  # rows drawn for each one wanted before it gives up
    few_missing: Real = Field(0.05, ge=0, lt=1)  # share of incomplete rows that are left out


class Settings(Input):
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
    validation_share: Real = Field(0.2, gt=0, lt=1)  # COMPASS III-A: 80/20
    count: Whole = Field(3, ge=1)  # suggestions per answer
    seed: Whole = Field(7, **option.SEED.limits)
    same: Real = Field(0.05, gt=0)  # "keep Y the same": within this share of it
    prove: Real = Field(1.0, ge=0)  # seconds for the proof of an answer; 0: no proof
    deadline: Real = Field(30.0, gt=0)  # seconds for a whole question on a fitted engine
    interval: Real = Field(0.9, gt=0, lt=1)  # level of the printed intervals
    chance: Real = Field(0.8, gt=0, lt=1)  # how likely a suggestion has to meet each goal
    keep: Real = Field(1.0, **option.KEEP.limits)  # share of the runs to learn from
    reducer: str = "uniform"
    surrogate: str = "auto"  # the family that cross-validates best
    scale: Literal["auto", "linear", "log"] = "auto"  # of outcomes; auto: what validates better
    represent: str | None = None  # an embedding to try in front of the model, or "auto"
    tune: Real = Field(0.0, **option.TUNE.limits)  # seconds for better settings of a model; 0: none
    threads: Whole = Field(0, ge=0)  # processors for training; 0: all
    acquisition: str = "expected-improvement"
    generator: str = "legal-search"


def with_study_trust(settings: Settings, stated: TrustChoice) -> Settings:
    """Settings with what a study states about labels; what was set in them explicitly stays."""
    own = settings.trust
    given = stated.model_dump(exclude_none=True)
    added = {name: value for name, value in given.items() if name not in own.model_fields_set}
    if "close_percentile" in own.model_fields_set:
        added.pop("tau", None)  # it would count instead
    if not added:
        return settings
    trust = valid(TrustSettings, dict(own) | added)
    if trust.caution > trust.unsupported:
        raise StudyProblem(
            f"trust: caution {trust.caution:g} is above unsupported {trust.unsupported:g}",
            hint="give both, caution below unsupported",
        )
    return settings.model_copy(update={"trust": trust})
