//! The functions and operators of expressions: their names and how many arguments they take.

/// Everything that evaluates all its arguments first and is NULL if one of them is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    Abs,
    Add,
    BitAnd,
    BitOr,
    BitXor,
    Debug,
    Divide,
    Double,
    Equal,
    Exp,
    Greatest,
    HashFnv1a,
    HashMurmur2,
    Int,
    Least,
    Less,
    LessOrEqual,
    Ln,
    Modulo,
    Multiply,
    Not,
    NotEqual,
    Permute,
    Pi,
    Power,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomZipfian,
    ShiftLeft,
    ShiftRight,
    Sqrt,
    Subtract,
}

impl Function {
    /// Whether two arguments of which one is a double are both taken as doubles. What is not here
    /// takes integers.
    pub fn takes_doubles(self) -> bool {
        use Function::*;
        matches!(self, Add | Subtract | Multiply | Divide | Equal | NotEqual | Less | LessOrEqual)
    }
}

/// How many arguments a function takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arity {
    Exactly(usize),
    AtLeastOne,
    /// The last argument may be left out and is then the variable `default_seed`.
    Seeded(usize),
}

/// What can be called by name.
const FUNCTIONS: [(&str, Function, Arity); 21] = [
    ("abs", Function::Abs, Arity::Exactly(1)),
    ("debug", Function::Debug, Arity::Exactly(1)),
    ("double", Function::Double, Arity::Exactly(1)),
    ("exp", Function::Exp, Arity::Exactly(1)),
    ("greatest", Function::Greatest, Arity::AtLeastOne),
    ("hash", Function::HashMurmur2, Arity::Seeded(2)),
    ("hash_fnv1a", Function::HashFnv1a, Arity::Seeded(2)),
    ("hash_murmur2", Function::HashMurmur2, Arity::Seeded(2)),
    ("int", Function::Int, Arity::Exactly(1)),
    ("least", Function::Least, Arity::AtLeastOne),
    ("ln", Function::Ln, Arity::Exactly(1)),
    ("mod", Function::Modulo, Arity::Exactly(2)),
    ("permute", Function::Permute, Arity::Seeded(3)),
    ("pi", Function::Pi, Arity::Exactly(0)),
    ("pow", Function::Power, Arity::Exactly(2)),
    ("power", Function::Power, Arity::Exactly(2)),
    ("random", Function::Random, Arity::Exactly(2)),
    ("random_exponential", Function::RandomExponential, Arity::Exactly(3)),
    ("random_gaussian", Function::RandomGaussian, Arity::Exactly(3)),
    ("random_zipfian", Function::RandomZipfian, Arity::Exactly(3)),
    ("sqrt", Function::Sqrt, Arity::Exactly(1)),
];

/// With the name as it stands here.
pub fn named(name: &str) -> Option<(&'static str, Function, Arity)> {
    FUNCTIONS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name)).copied()
}
