//! Options of the methods, and from options to a fit.

use clap::{Args, ValueEnum};
use hodgerank::fit::{FitOptions, Method};
use hodgerank::laplacian::{Backend, BackendChoice};
use hodgerank::select::OutlierRule;
use hodgerank::select::cross_validation::CrossValidationOptions;
use hodgerank::solve::L2Options;
use hodgerank::solve::bregman::Algorithm;
use hodgerank::solve::lasso_l2::Protocol;

use crate::failure::Failure;

/// How to rank.
#[derive(Debug, Args)]
#[command(next_help_heading = "Method")]
pub struct MethodOptions {
    /// How to find the scores [default: iss, or lbi on data where iss would take long]
    #[arg(long, value_enum)]
    method: Option<MethodName>,
    /// How many votes to flag: a share (5%), a count (200), lambda=L, time=T, scaled, scaled=M, cv,
    /// cv=FOLDS, auto
    #[arg(long, value_name = "RULE", default_value = "auto", value_parser = parse_rule)]
    outliers: OutlierRule,
    /// Same seed, same lambda of --outliers cv [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Residual above which hlasso and lasso-l2 flag a vote (short for --outliers lambda=L); penalty
    /// of pc-lasso
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    lambda: Option<f64>,
    /// Time at which lbi and iss stop (short for --outliers time=T)
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    time: Option<f64>,
    /// Damping of lbi: the larger, the less bias and the more steps [default: by the data]
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    kappa: Option<f64>,
    /// Step of time of lbi [default: as long as converges well]
    #[arg(long, value_name = "DT", allow_negative_numbers = true)]
    dt: Option<f64>,
    /// How lbi finds the scores of a step [default: 3]
    #[arg(long, value_enum, value_name = "N")]
    algorithm: Option<AlgorithmNumber>,
    /// Order in which hlasso and lasso-l2 flag votes
    #[arg(long, value_enum, default_value_t = ProtocolName::General)]
    protocol: ProtocolName,
    /// Strength of the pull towards zero of --method ridge [default: 1]
    #[arg(long, value_name = "A", allow_negative_numbers = true)]
    ridge: Option<f64>,
    /// How linear systems are solved
    #[arg(long, value_enum, default_value_t = BackendName::Auto)]
    backend: BackendName,
    /// Relative residual at which an iterative solve may stop
    #[arg(
        long,
        value_name = "R",
        default_value_t = L2Options::default().tolerance,
        allow_negative_numbers = true
    )]
    tolerance: f64,
    /// Most iterations of an iterative solve
    #[arg(long, value_name = "N", default_value_t = L2Options::default().max_iterations)]
    max_iterations: usize,
}

/// A method by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodName {
    /// Least squares (HodgeRank): every vote counts alike
    L2,
    /// Least squares with the scores pulled towards zero
    Ridge,
    /// Huber-LASSO: votes that fit badly pull with bounded force
    Hlasso,
    /// Least squares without the votes that Huber-LASSO flags
    LassoL2,
    /// Linearised Bregman iteration: flags votes one after the other, with little bias
    Lbi,
    /// Inverse scale space: the exact limit of lbi, with nothing to tune
    Iss,
    /// Least squares without the K votes whose removal helps most
    Iht,
    /// Least trimmed squares; --outliers auto finds K
    Ilts,
    /// LASSO guided by principal components; every vote counts
    PcLasso,
}

impl From<MethodName> for Method {
    fn from(name: MethodName) -> Self {
        match name {
            MethodName::L2 => Self::L2,
            MethodName::Ridge => Self::Ridge,
            MethodName::Hlasso => Self::HuberLasso,
            MethodName::LassoL2 => Self::LassoL2,
            MethodName::Lbi => Self::Bregman,
            MethodName::Iss => Self::InverseScaleSpace,
            MethodName::Iht => Self::HardThreshold,
            MethodName::Ilts => Self::Trimmed,
            MethodName::PcLasso => Self::PcLasso,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AlgorithmNumber {
    /// One step along the gradient
    #[value(name = "2")]
    Two,
    /// Scores solved exactly at each step
    #[value(name = "3")]
    Three,
    /// As 2, spread over threads (2 is too, with the same result)
    #[value(name = "4")]
    Four,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProtocolName {
    /// Larger residuals first
    General,
    /// The paper's: 100 values of lambda; within one, by winner and loser
    Paper,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum BackendName {
    /// By size and shape of the comparison graph
    Auto,
    /// Dense Cholesky
    Dense,
    /// Sparse Cholesky
    Sparse,
    /// Preconditioned conjugate gradients
    Cg,
}

impl From<BackendName> for BackendChoice {
    fn from(name: BackendName) -> Self {
        match name {
            BackendName::Auto => Self::Auto,
            BackendName::Dense => Self::Fixed(Backend::Dense),
            BackendName::Sparse => Self::Fixed(Backend::Sparse),
            BackendName::Cg => Self::Fixed(Backend::ConjugateGradient),
        }
    }
}

impl MethodOptions {
    /// The options of the fit, checked before any work.
    ///
    /// # Errors
    /// If an option makes no sense, or not with this method.
    pub fn fit_options(&self) -> Result<FitOptions, Failure> {
        let method = self.method.map(Method::from);
        self.check_owners(method)?;
        self.options(method)
    }

    /// Options for several methods at once: each takes from them what is its own.
    ///
    /// # Errors
    /// If one method is named, or an option makes no sense.
    pub fn shared_options(&self) -> Result<FitOptions, Failure> {
        if self.method.is_some() {
            return Err(Failure::usage(
                "--method names one method, and several are compared",
                "use --methods l2,iss,…",
            ));
        }
        self.options(None)
    }

    fn options(&self, method: Option<Method>) -> Result<FitOptions, Failure> {
        let mut outliers = self.outliers;
        if let Some(lambda) = self.lambda.filter(|_| method != Some(Method::PcLasso)) {
            outliers = OutlierRule::Lambda(lambda);
        }
        if let Some(time) = self.time {
            outliers = OutlierRule::Time(time);
        }
        if let Some(given) = self.seed {
            let OutlierRule::CrossValidation(CrossValidationOptions { seed, .. }) = &mut outliers
            else {
                return Err(Failure::usage(
                    "--seed is an option of --outliers cv: nothing else here is random",
                    "add --outliers cv, or leave --seed out",
                ));
            };
            *seed = given;
        }
        let defaults = FitOptions::default();
        let options = FitOptions {
            method,
            outliers,
            protocol: match self.protocol {
                ProtocolName::General => Protocol::General,
                ProtocolName::Paper => Protocol::Paper,
            },
            ridge: self.ridge.unwrap_or(defaults.ridge),
            kappa: self.kappa,
            dt: self.dt,
            algorithm: match self.algorithm {
                None | Some(AlgorithmNumber::Three) => Algorithm::Exact,
                Some(AlgorithmNumber::Two | AlgorithmNumber::Four) => Algorithm::Gradient,
            },
            lambda: self.lambda,
            backend: self.backend.into(),
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
        };
        options.validate()?;
        Ok(options)
    }

    /// An option of a method that was not asked for would be ignored in silence.
    fn check_owners(&self, method: Option<Method>) -> Result<(), Failure> {
        use Method::{Bregman, HuberLasso, InverseScaleSpace, LassoL2, PcLasso, Ridge};
        let paper = self.protocol == ProtocolName::Paper;
        let given: [(&str, bool, &[Method]); 7] = [
            ("--ridge", self.ridge.is_some(), &[Ridge]),
            ("--lambda", self.lambda.is_some(), &[HuberLasso, LassoL2, PcLasso]),
            ("--time", self.time.is_some(), &[Bregman, InverseScaleSpace]),
            ("--kappa", self.kappa.is_some(), &[Bregman]),
            ("--dt", self.dt.is_some(), &[Bregman]),
            ("--algorithm", self.algorithm.is_some(), &[Bregman]),
            ("--protocol paper", paper, &[HuberLasso, LassoL2]),
        ];
        for (flag, is_given, owners) in given {
            if is_given && !method.is_some_and(|method| owners.contains(&method)) {
                let names: Vec<&str> = owners.iter().map(|method| method.as_str()).collect();
                let names = names.join(" or ");
                return Err(Failure::usage(
                    format!("{flag} is an option of --method {names}"),
                    format!("add --method {}, or leave {flag} out", owners[0].as_str()),
                ));
            }
        }
        Ok(())
    }
}

/// Said by clap behind the flag and the value, so only what was expected is left to say.
fn parse_rule(text: &str) -> Result<OutlierRule, String> {
    text.parse().map_err(|error| match error {
        hodgerank::Error::BadOption { expected, .. } => format!("expected {expected}"),
        other => other.to_string(),
    })
}
