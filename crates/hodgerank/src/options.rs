//! Every option of every method, defined once.
//!
//! A row of the table below is a field of [`FitOptions`], a setter of [`FitOptions`] and of
//! [`Ranker`], a flag of the program and, through the flag, a Python keyword. `used_by` names the
//! methods that read the option (none: all methods), `ignored_by` those that do not. Giving an option to a
//! method that does not read it is an error. If no method is given, options with `ignored_by` are
//! accepted, and [`FitOptions::ignored_by`] says which of them the method that was chosen does not read.

use crate::communicator::Communicator;
use crate::error::{Error, Result};
use crate::fit::{self, Fit, Model};
use crate::laplacian::BackendChoice;
use crate::model::{Prior, PriorKind};
use crate::select::OutlierRule;
use crate::select::cross_validation::CrossValidationOptions;
use crate::solve::bregman::{Algorithm, BregmanOptions};
use crate::solve::huber_lasso::{HuberLassoOptions, Knots};
use crate::solve::lasso_l2::Protocol;
use crate::solve::pc_lasso::PcLassoOptions;
use crate::solve::{BradleyTerryOptions, CrowdOptions, L2Options, Method, RidgeOptions};

/// Which methods read an option.
#[derive(Debug, Clone, Copy)]
enum Usage {
    /// Only these, or all if there are none.
    By(&'static [Method]),
    /// All but these.
    NotBy(&'static [Method]),
}

impl Usage {
    const fn used_by(methods: &'static [Method]) -> Self {
        Self::By(methods)
    }

    const fn ignored_by(methods: &'static [Method]) -> Self {
        Self::NotBy(methods)
    }

    fn includes(self, method: Method) -> bool {
        match self {
            Self::By(methods) => methods.is_empty() || methods.contains(&method),
            Self::NotBy(methods) => !methods.contains(&method),
        }
    }

    /// The names of the methods that read the option.
    fn methods(self) -> Vec<&'static str> {
        let all = Method::ALL.iter().filter(|method| self.includes(**method));
        all.map(|method| method.as_str()).collect()
    }
}

/// An option that was given and that a method does not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredOption {
    /// The option, spelled as the field.
    pub option: &'static str,
    /// The methods that read it.
    pub methods: Vec<&'static str>,
}

macro_rules! fit_options {
    ($($(#[$attribute:meta])* $name:ident: $type:ty = $default:expr, $usage:ident [$($method:ident),*];)*) => {
        /// Options of [`crate::fit()`]: the method, the outlier rule, and what single methods read.
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Method"))]
        #[non_exhaustive]
        pub struct FitOptions {
            $($(#[$attribute])* pub $name: $type,)*
        }

        impl Default for FitOptions {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl FitOptions {
            $(
                #[doc = concat!("Sets [`FitOptions::", stringify!($name), "`](#structfield.", stringify!($name), ").")]
                #[must_use]
                pub fn $name(mut self, value: impl Into<$type>) -> Self {
                    self.$name = value.into();
                    self
                }
            )*

            /// Every option that was given, with the methods that read it.
            fn given(&self) -> Vec<(&'static str, Usage)> {
                let default = Self::default();
                let mut given = Vec::new();
                $(
                    if self.$name != default.$name {
                        given.push((stringify!($name), Usage::$usage(&[$(Method::$method),*])));
                    }
                )*
                given
            }
        }

        /// Ranks votes: `Ranker::new().method(Method::HuberLasso).lambda(1.0).rank(&votes)`.
        ///
        /// Every option of [`FitOptions`] has a setter of the same name.
        #[derive(Debug, Clone, Copy, PartialEq, Default)]
        #[must_use = "a ranker does nothing before `rank` is called"]
        pub struct Ranker {
            pub(crate) options: FitOptions,
        }

        impl Ranker {
            $(
                #[doc = concat!("Sets [`FitOptions::", stringify!($name), "`](FitOptions#structfield.", stringify!($name), ").")]
                pub fn $name(mut self, value: impl Into<$type>) -> Self {
                    self.options.$name = value.into();
                    self
                }
            )*
        }
    };
}

/// The heading in `--help` of options that few people need.
#[cfg(feature = "clap")]
const EXPERT: &str = "Expert options";

fit_options! {
    /// Ranking method [default: crowd if annotators are known, otherwise bt; iss for
    /// graded votes without annotators]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    method: Option<Method> = None, used_by [];

    /// How many votes to flag: a share (5%), a count (200), lambda=L, time=T, scaled, scaled=M, cv,
    /// cv=FOLDS or auto
    #[cfg_attr(feature = "clap", arg(
        long,
        value_name = "RULE",
        default_value_t = OutlierRule::default(),
        value_parser = parse_rule
    ))]
    outliers: OutlierRule = OutlierRule::default(), ignored_by [L2, Ridge, PcLasso];

    /// Seed of --outliers cv and of predict --holdout [default: 0]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = EXPERT))]
    seed: Option<u64> = None, used_by [];

    /// Residual above which hlasso and lasso-l2 flag a vote (same as --outliers lambda=L); penalty
    /// of pc-lasso
    #[cfg_attr(feature = "clap", arg(long, value_name = "L", allow_negative_numbers = true, help_heading = EXPERT))]
    lambda: Option<f64> = None, used_by [HuberLasso, LassoL2, PcLasso];

    /// Time at which lbi and iss stop (same as --outliers time=T)
    #[cfg_attr(feature = "clap", arg(long, value_name = "T", allow_negative_numbers = true, help_heading = EXPERT))]
    time: Option<f64> = None, used_by [Bregman, InverseScaleSpace];

    /// Damping of lbi: larger values reduce bias and need more steps [default: from the data]
    #[cfg_attr(feature = "clap", arg(long, value_name = "K", allow_negative_numbers = true, help_heading = EXPERT))]
    kappa: Option<f64> = None, used_by [Bregman];

    /// Time step of lbi [default: the longest step that converges well]
    #[cfg_attr(feature = "clap", arg(long, value_name = "DT", allow_negative_numbers = true, help_heading = EXPERT))]
    dt: Option<f64> = None, used_by [Bregman];

    /// Algorithm of the paper that updates the scores in lbi
    #[cfg_attr(feature = "clap", arg(
        long,
        value_enum,
        value_name = "N",
        default_value_t = Algorithm::default(),
        help_heading = EXPERT
    ))]
    algorithm: Algorithm = Algorithm::default(), used_by [Bregman];

    /// Order in which hlasso and lasso-l2 flag votes
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t = Protocol::default(), help_heading = EXPERT))]
    protocol: Protocol = Protocol::default(), used_by [HuberLasso, LassoL2];

    /// Strength of the shrinkage towards zero of ridge [default: 1]
    #[cfg_attr(feature = "clap", arg(long, value_name = "A", allow_negative_numbers = true, help_heading = EXPERT))]
    ridge: Option<f64> = None, used_by [Ridge];

    /// What the prior of bt and crowd is on [default: what predicts votes better]
    #[cfg_attr(feature = "clap", arg(long, value_enum, value_name = "KIND", help_heading = EXPERT))]
    prior_kind: Option<PriorKind> = None, used_by [BradleyTerry, Crowd];

    /// Precision of the prior of bt and crowd; 0 is no prior [default: what predicts votes best]
    #[cfg_attr(feature = "clap", arg(long, value_name = "LAMBDA", allow_negative_numbers = true, help_heading = EXPERT))]
    prior: Option<f64> = None, used_by [BradleyTerry, Crowd];

    /// Share of votes that are lapses in bt: answers that do not depend on the items [default:
    /// what predicts votes best]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE", allow_negative_numbers = true, help_heading = EXPERT))]
    lapse_rate: Option<f64> = None, used_by [BradleyTerry];

    /// How linear systems are solved
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t = BackendChoice::default(), help_heading = EXPERT))]
    backend: BackendChoice = BackendChoice::default(), ignored_by [PcLasso];

    /// Relative residual at which an iterative solver stops
    #[cfg_attr(feature = "clap", arg(
        long,
        value_name = "R",
        default_value_t = L2Options::default().tolerance,
        allow_negative_numbers = true,
        help_heading = EXPERT
    ))]
    tolerance: f64 = L2Options::default().tolerance, ignored_by [PcLasso, BradleyTerry, Crowd];

    /// Maximum number of iterations of an iterative solver
    #[cfg_attr(feature = "clap", arg(
        long,
        value_name = "N",
        default_value_t = L2Options::default().max_iterations,
        help_heading = EXPERT
    ))]
    max_iterations: usize = L2Options::default().max_iterations,
        ignored_by [PcLasso, BradleyTerry, Crowd];
}

impl FitOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks what can be checked without votes: every value is in its range, and the method reads
    /// every option that was given.
    ///
    /// # Errors
    /// [`Error::BadOption`] or [`Error::UnusedOption`] for the first option at fault.
    pub fn validate(&self) -> Result<()> {
        let is_refused = |usage: Usage| match (self.method, usage) {
            (Some(method), usage) => !usage.includes(method),
            (None, Usage::By(methods)) => !methods.is_empty(),
            (None, Usage::NotBy(_)) => false,
        };
        match self.given().into_iter().find(|(_, usage)| is_refused(*usage)) {
            Some((option, usage)) => Err(Error::UnusedOption { option, methods: usage.methods() }),
            None => self.validate_values(),
        }
    }

    /// The options that were given and that this method does not read: it was chosen for the votes, so that
    /// [`FitOptions::validate`] could not refuse them.
    #[must_use]
    pub fn ignored_by(&self, method: Method) -> Vec<IgnoredOption> {
        let ignored = self.given().into_iter().filter(|(_, usage)| !usage.includes(method));
        let named =
            |(option, usage): (_, Usage)| IgnoredOption { option, methods: usage.methods() };
        ignored.map(named).collect()
    }

    /// [`FitOptions::validate`] for options that several methods share: each reads its own.
    ///
    /// # Errors
    /// [`Error::BadOption`] or [`Error::UnusedSeed`].
    pub fn validate_values(&self) -> Result<()> {
        if self.seed.is_some() && !matches!(self.outliers, OutlierRule::CrossValidation(_)) {
            return Err(Error::UnusedSeed);
        }
        self.rule().validate(f64::INFINITY)?;
        self.l2_options().validate()?;
        self.ridge_options().validate()?;
        self.pc_lasso_options().validate()?;
        self.bradley_terry_options().validate()?;
        self.bregman_options().validate()
    }

    /// The outlier rule after `lambda`, `time` and `seed` have been applied.
    #[must_use]
    pub fn rule(&self) -> OutlierRule {
        let lambda = self.lambda.filter(|_| self.method != Some(Method::PcLasso));
        match (lambda, self.time, self.seed, self.outliers) {
            (_, Some(time), _, _) => OutlierRule::Time(time),
            (Some(lambda), ..) => OutlierRule::Lambda(lambda),
            (_, _, Some(seed), OutlierRule::CrossValidation(options)) => {
                OutlierRule::CrossValidation(CrossValidationOptions { seed, ..options })
            }
            (.., rule) => rule,
        }
    }

    /// These options for another method and rule. What only other methods read is kept, and
    /// ignored.
    #[must_use]
    pub fn with_method_and_rule(self, method: Method, rule: OutlierRule) -> Self {
        let lambda = self.lambda.filter(|_| method == Method::PcLasso);
        Self { method: Some(method), outliers: rule, lambda, time: None, seed: None, ..self }
    }

    /// Checks that processes that share the votes can run the method and the rule: every step of
    /// both must be a sum over the votes.
    pub(crate) fn check_distributable(&self, communicator: &dyn Communicator) -> Result<()> {
        let refused = |option, value: &str, expected| {
            Err(Error::BadOption { option, value: value.to_owned(), expected })
        };
        match (self.method, self.rule()) {
            _ if communicator.is_single_process() => Ok(()),
            (Some(method), _) if !method.info().is_distributable => {
                refused("method", method.as_str(), "a method that can run on several processes")
            }
            (_, OutlierRule::CrossValidation(_)) => {
                let expected = "a rule that can run on several processes: a share, a count, \
                                lambda, time, scaled or auto";
                refused("outliers", "cv", expected)
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn l2_options(&self) -> L2Options {
        let Self { backend, tolerance, max_iterations, .. } = *self;
        L2Options { backend, tolerance, max_iterations }
    }

    pub(crate) fn ridge_options(&self) -> RidgeOptions {
        let Self { backend, tolerance, max_iterations, .. } = *self;
        let ridge = self.ridge.unwrap_or(RidgeOptions::default().ridge);
        RidgeOptions { ridge, backend, tolerance, max_iterations }
    }

    pub(crate) fn pc_lasso_options(&self) -> PcLassoOptions {
        PcLassoOptions { lambda: self.lambda, ..PcLassoOptions::default() }
    }

    pub(crate) fn bradley_terry_options(&self) -> BradleyTerryOptions {
        let Self { prior, prior_kind, lapse_rate, backend, .. } = *self;
        BradleyTerryOptions { prior, prior_kind, lapse_rate, backend }
    }

    pub(crate) fn crowd_options(&self) -> CrowdOptions {
        let Self { prior, prior_kind, backend, .. } = *self;
        CrowdOptions { prior, prior_kind, backend, ..CrowdOptions::default() }
    }

    /// The same with the method, the prior and the lapse rate of a fit, for similar votes: they are not chosen again.
    #[must_use]
    pub(crate) fn fixed_by(&self, fit: &Fit) -> Self {
        let Some(model) = &fit.model else { return self.method(fit.method) };
        let Prior { kind, precision } = model.prior();
        // Graded votes have no choice of priors.
        let is_chosen = model.link().is_some();
        let lapse_rate = match model {
            Model::BradleyTerry(estimates) => Some(estimates.lapse_rate),
            Model::Crowd(_) => None,
        };
        Self {
            prior: self.prior.or(is_chosen.then_some(precision)),
            prior_kind: self.prior_kind.or(is_chosen.then_some(kind)),
            lapse_rate: self.lapse_rate.or(lapse_rate),
            ..self.method(fit.method)
        }
    }

    /// Whether the method uses who voted, where annotators are known: the votes are to be read with
    /// their annotators.
    #[must_use]
    pub fn uses_annotators(&self) -> bool {
        self.method.map_or_else(|| fit::prefers_model(self.rule()), Method::needs_annotators)
    }

    /// Whether the method uses the sides on which items were shown, where they are known: votes are to
    /// be counted by side.
    #[must_use]
    pub fn uses_sides(&self) -> bool {
        let is_model = || fit::prefers_model(self.rule());
        self.method.map_or_else(is_model, |method| method == Method::BradleyTerry)
    }

    pub(crate) fn bregman_options(&self) -> BregmanOptions {
        let Self { algorithm, kappa, dt, backend, .. } = *self;
        BregmanOptions { algorithm, kappa, dt, backend, ..BregmanOptions::default() }
    }

    pub(crate) fn huber_options(&self) -> HuberLassoOptions {
        let knots = match self.protocol {
            Protocol::Paper => Knots::Grid { count: 100, ratio: 0.01 },
            Protocol::General => Knots::default(),
        };
        HuberLassoOptions { knots, backend: self.backend, ..HuberLassoOptions::default() }
    }
}

/// clap prints the flag and the value itself, so only what was expected is left to say.
#[cfg(feature = "clap")]
fn parse_rule(text: &str) -> Result<OutlierRule, String> {
    text.parse().map_err(|error| match error {
        Error::BadOption { expected, .. } => format!("expected {expected}"),
        other => other.to_string(),
    })
}
