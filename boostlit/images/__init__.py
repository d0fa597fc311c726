"Pictures in, blocks out: transformers in scikit-learn's manner (OpenCV is the extra `vision`)."
from boostlit.images.transformers import (Codebook, Components, DenseSIFT, FisherVector,
                                          SpatialPyramid, picture_folder)

__all__ = ["Codebook", "Components", "DenseSIFT", "FisherVector", "SpatialPyramid",
           "picture_folder"]
