//! Integration tests of the library, in one binary.

mod annotators;
mod api;
mod bregman;
mod certificate;
mod communicator;
mod concomitant;
mod cross_validation;
mod curl_reference;
mod decompose;
mod diagnose;
mod examples;
mod hard_threshold;
mod huber_lasso;
mod huber_lasso_published;
mod identify;
mod inverse_scale_space;
mod l2;
mod laplacian;
mod lasso_l2;
mod pc_lasso;
mod selection;
mod shapes;
mod simulate;
mod studies;
mod thread_communicator;
mod weak_links;
