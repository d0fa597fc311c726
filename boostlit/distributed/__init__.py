"The same models on Dask and on tables larger than memory (Dask is the extra `dask`)."
from boostlit.distributed.search import (distributed_closed_itemsets, distributed_quadraticboost,
                                         fit_on_cluster)
from boostlit.distributed.training import (DistributedStumpOracle, distributed_adaboost,
                                           distributed_gentleboost)

__all__ = ["DistributedStumpOracle", "distributed_adaboost", "distributed_closed_itemsets",
           "distributed_gentleboost", "distributed_quadraticboost", "fit_on_cluster"]
