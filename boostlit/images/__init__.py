"Pictures in, blocks out: transformers in scikit-learn's manner (OpenCV is the extra `vision`)."
from boostlit.images.transformers import (Census, Codebook, Components, DenseSIFT, FisherVector,
                                          SpatialPyramid, Waves, picture_folder)

__all__ = ["Census", "Codebook", "Components", "DenseSIFT", "FisherVector", "SpatialPyramid",
           "Waves", "picture_folder"]
