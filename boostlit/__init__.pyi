"What `import boostlit` offers, for editors and type checkers; made by the page Names."
from .core.boosters import AdaBoostClassifier as AdaBoostClassifier, GentleBoostClassifier as GentleBoostClassifier, LogitBoostClassifier as LogitBoostClassifier, Booster as Booster
from .core.loop import boost as boost, Callback as Callback
from .core.masters import AdaBoost as AdaBoost, SAMME as SAMME, Gentle as Gentle, Logistic as Logistic, MadaBoost as MadaBoost, Multinomial as Multinomial
from .core.controls import EarlyStopping as EarlyStopping, Checkpoint as Checkpoint
from .core.explaining import ShapeDisplay as ShapeDisplay, margins as margins
from .core.stumps import DecisionStumpClassifier as DecisionStumpClassifier, StumpOracle as StumpOracle
from .core.datasets import load_dataset as load_dataset, list_datasets as list_datasets, have_dataset as have_dataset, TableEncoder as TableEncoder
from .core.models import save_model as save_model, load_model as load_model
from .core.exports import to_python as to_python, to_sql as to_sql, to_json as to_json, from_json as from_json, to_onnx as to_onnx
from .core.plots import RuleDisplay as RuleDisplay, ProductDisplay as ProductDisplay, ProjectionDisplay as ProjectionDisplay, BilinearDisplay as BilinearDisplay, PatternDisplay as PatternDisplay, StumpDisplay as StumpDisplay, AxisDisplay as AxisDisplay, TermsDisplay as TermsDisplay, HistoryDisplay as HistoryDisplay
from .mining.baskets import read_baskets as read_baskets
from .mining.itemsets import closed_itemsets as closed_itemsets, frequent_itemsets as frequent_itemsets, maximal_itemsets as maximal_itemsets
from .mining.rules import association_rules as association_rules, significant_itemsets as significant_itemsets
from .compositional.rules import mine_rules as mine_rules
from .compositional.estimator import CompositionalBoostClassifier as CompositionalBoostClassifier
from .quadratic.boosting import QuadraticBoostClassifier as QuadraticBoostClassifier
from .quadratic.glass_box import GlassBoxClassifier as GlassBoxClassifier, GlassBoxDisplay as GlassBoxDisplay
from .quadratic.regression import GentleBoostRegressor as GentleBoostRegressor, QuadraticBoostRegressor as QuadraticBoostRegressor
from .pairwise.estimator import PairwiseBoostClassifier as PairwiseBoostClassifier
from .pairwise.projection import WeightedLDA as WeightedLDA
from .bilinear.boosting import SparseBilinearClassifier as SparseBilinearClassifier, BilinearBoostClassifier as BilinearBoostClassifier
from .bilinear.corrective import CorrectiveBilinearClassifier as CorrectiveBilinearClassifier
from .lpboost.estimators import LPBoostClassifier as LPBoostClassifier, OneClassLPBoost as OneClassLPBoost, OneAndHalfClassLPBoost as OneAndHalfClassLPBoost
__version__: str
__all__: list[str]
