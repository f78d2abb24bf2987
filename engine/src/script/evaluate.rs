//! Computes an expression from the values of a client's variables. Errors are those of pgbench;
//! who catches one knows the place in the script.

use super::encoding;
use super::expression::{Expression, Slot};
use super::function::Function;
use super::hash;
use super::random::{Prng, Range};
use super::value::{Guess, Scalar, Value, fixed};
use std::sync::Arc;

/// pgbench's limits on the shapes of its distributions.
const GAUSSIAN_PARAMETER_MIN: f64 = 2.0;
const ZIPFIAN_PARAMETERS: std::ops::RangeInclusive<f64> = 1.001..=1000.0;

/// As in pgbench, which finds out when it evaluates.
const ARGUMENTS_MAX: usize = 16;

/// What an expression is computed from.
pub struct Scope<'a> {
    pub variables: &'a [Value],
    pub prng: &'a mut Prng,
    /// What `debug()` was called with, in order.
    pub shown: &'a mut Vec<Scalar>,
}

/// Why there is no value.
#[derive(Debug, Clone, PartialEq)]
pub enum EvaluationError {
    Undefined(Slot),
    /// The text of a variable stands for no value.
    Malformed(Slot, Arc<str>),
    /// An empty text stands for no value, and pgbench does not say so.
    Empty,
    Said(String),
}

type Evaluated = Result<Scalar, EvaluationError>;

impl From<String> for EvaluationError {
    fn from(what: String) -> Self {
        EvaluationError::Said(what)
    }
}

impl EvaluationError {
    /// In pgbench's words; `names` has the name of every slot.
    pub fn words(&self, names: &[Box<str>]) -> Option<String> {
        match self {
            EvaluationError::Undefined(slot) => Some(format!("undefined variable \"{}\"", names[*slot])),
            EvaluationError::Malformed(slot, text) => {
                let text = encoding::shown(text);
                Some(format!("malformed variable \"{}\" value: \"{text}\"", names[*slot]))
            }
            EvaluationError::Empty => None,
            EvaluationError::Said(what) => Some(what.clone()),
        }
    }
}

fn said<T>(what: &str) -> Result<T, EvaluationError> {
    Err(EvaluationError::Said(what.to_owned()))
}

fn variable(slot: Slot, variables: &[Value]) -> Evaluated {
    match &variables[slot] {
        Value::Scalar(scalar) => Ok(*scalar),
        Value::Unset => Err(EvaluationError::Undefined(slot)),
        Value::Text(text) => match Scalar::guess(text) {
            Guess::Scalar(scalar) => Ok(scalar),
            Guess::Nothing if text.is_empty() => Err(EvaluationError::Empty),
            Guess::Nothing => Err(EvaluationError::Malformed(slot, Arc::clone(text))),
            // Neither is anything but digits, blanks and signs.
            Guess::Beyond => Err(EvaluationError::Said(format!("value \"{text}\" is out of range for type bigint"))),
            Guess::Sign => Err(EvaluationError::Said(format!("invalid input syntax for type bigint: \"{text}\""))),
        },
    }
}

impl Expression {
    /// NULL if an argument is, once all of them are evaluated: they may draw random numbers.
    #[inline]
    pub fn evaluate(&self, scope: &mut Scope<'_>) -> Evaluated {
        match self {
            Expression::Constant(scalar) => Ok(*scalar),
            Expression::Variable(slot) => variable(*slot, scope.variables),
            Expression::Unary(function, operand) => match operand.evaluate(scope)? {
                Scalar::Null => Ok(Scalar::Null),
                operand => single(*function, operand),
            },
            Expression::Binary(function, operands) => {
                let left = operands[0].evaluate(scope)?;
                let right = operands[1].evaluate(scope)?;
                match (left, right) {
                    (Scalar::Integer(left), Scalar::Integer(right)) => integers(*function, left, right, scope.prng),
                    (Scalar::Null, _) | (_, Scalar::Null) => Ok(Scalar::Null),
                    (left, right) => mixed(*function, left, right, scope.prng),
                }
            }
            Expression::Ternary(function, operands) => {
                let first = operands[0].evaluate(scope)?;
                let second = operands[1].evaluate(scope)?;
                let third = operands[2].evaluate(scope)?;
                match [first, second, third].contains(&Scalar::Null) {
                    true => Ok(Scalar::Null),
                    false => triple(*function, first.integer()?, second.integer()?, third, scope.prng),
                }
            }
            Expression::Extreme(function, operands) => extreme(*function, operands, scope),
            Expression::Debug(operand) => {
                let scalar = operand.evaluate(scope)?;
                scope.shown.push(scalar);
                Ok(scalar)
            }
            Expression::And(operands) => logical(operands, false, scope),
            Expression::Or(operands) => logical(operands, true, scope),
            Expression::Case { branches, otherwise } => {
                for (condition, value) in branches {
                    if condition.evaluate(scope)?.is_true() {
                        return value.evaluate(scope);
                    }
                }
                otherwise.evaluate(scope)
            }
            Expression::Is(operand, scalar) => Ok(Scalar::Boolean(operand.evaluate(scope)? == *scalar)),
        }
    }
}

/// AND and OR: the first operand decides alone if it is `decisive`.
fn logical(operands: &[Expression; 2], decisive: bool, scope: &mut Scope<'_>) -> Evaluated {
    for operand in operands {
        match operand.evaluate(scope)? {
            Scalar::Null => return Ok(Scalar::Null),
            scalar if scalar.boolean()? == decisive => return Ok(Scalar::Boolean(decisive)),
            _ => {}
        }
    }
    Ok(Scalar::Boolean(!decisive))
}

fn triple(function: Function, first: i64, second: i64, third: Scalar, prng: &mut Prng) -> Evaluated {
    if function == Function::Permute {
        return match second {
            1.. => Ok(Scalar::Integer(hash::permute(first, second, third.integer()?))),
            _ => said("permute size parameter must be greater than zero"),
        };
    }
    let range = Range::new(first, second).map_err(str::to_owned)?;
    Ok(Scalar::Integer(skewed(function, range, third.double()?, prng)?))
}

fn skewed(function: Function, range: Range, parameter: f64, prng: &mut Prng) -> Result<i64, String> {
    match function {
        Function::RandomExponential if parameter > 0.0 => Ok(prng.exponential(range, parameter)),
        Function::RandomExponential => {
            Err(format!("exponential parameter must be greater than zero (not {})", fixed(parameter, 6)))
        }
        Function::RandomGaussian if parameter >= GAUSSIAN_PARAMETER_MIN => Ok(prng.gaussian(range, parameter)),
        Function::RandomGaussian => Err(format!(
            "gaussian parameter must be at least {GAUSSIAN_PARAMETER_MIN:.6} (not {})",
            fixed(parameter, 6)
        )),
        _ if ZIPFIAN_PARAMETERS.contains(&parameter) => Ok(prng.zipfian(range, parameter)),
        _ => Err(format!("zipfian parameter must be in range [1.001, 1000] (not {})", fixed(parameter, 6))),
    }
}

/// Two arguments that are not both integers: operators on numbers take doubles if one is, all else
/// takes integers.
fn mixed(function: Function, left: Scalar, right: Scalar, prng: &mut Prng) -> Evaluated {
    if function == Function::Power {
        return Ok(Scalar::Double(left.double()?.powf(right.double()?)));
    }
    let with_double = matches!((left, right), (Scalar::Double(_), _) | (_, Scalar::Double(_)));
    if !with_double || !function.takes_doubles() {
        return integers(function, left.integer()?, right.integer()?, prng);
    }
    let (left, right) = (left.double()?, right.double()?);
    Ok(match function {
        Function::Add => Scalar::Double(left + right),
        Function::Subtract => Scalar::Double(left - right),
        Function::Multiply => Scalar::Double(left * right),
        Function::Divide => Scalar::Double(left / right),
        Function::Equal => Scalar::Boolean(left == right),
        Function::NotEqual => Scalar::Boolean(left != right),
        Function::Less => Scalar::Boolean(left < right),
        Function::LessOrEqual => Scalar::Boolean(left <= right),
        other => unreachable!("{other:?} takes no doubles"),
    })
}

#[inline]
fn integers(function: Function, left: i64, right: i64, prng: &mut Prng) -> Evaluated {
    let checked = |result: Option<i64>, name: &str| {
        result.map(Scalar::Integer).ok_or_else(|| EvaluationError::Said(format!("bigint {name} out of range")))
    };
    match function {
        Function::Add => checked(left.checked_add(right), "add"),
        Function::Subtract => checked(left.checked_sub(right), "sub"),
        Function::Multiply => checked(left.checked_mul(right), "mul"),
        Function::Divide | Function::Modulo if right == 0 => said("division by zero"),
        Function::Divide => checked(left.checked_div(right), "div"),
        // Wrapping only concerns the smallest bigint % -1, which is 0.
        Function::Modulo => Ok(Scalar::Integer(left.wrapping_rem(right))),
        Function::Equal => Ok(Scalar::Boolean(left == right)),
        Function::NotEqual => Ok(Scalar::Boolean(left != right)),
        Function::Less => Ok(Scalar::Boolean(left < right)),
        Function::LessOrEqual => Ok(Scalar::Boolean(left <= right)),
        Function::BitAnd => Ok(Scalar::Integer(left & right)),
        Function::BitOr => Ok(Scalar::Integer(left | right)),
        Function::BitXor => Ok(Scalar::Integer(left ^ right)),
        // C leaves shifts by more than 63 bits open; the processors that pgbench runs on wrap.
        Function::ShiftLeft => Ok(Scalar::Integer(left.wrapping_shl(right as u32))),
        Function::ShiftRight => Ok(Scalar::Integer(left.wrapping_shr(right as u32))),
        Function::Random => Ok(Scalar::Integer(prng.uniform(Range::new(left, right).map_err(str::to_owned)?))),
        Function::Power => Ok(Scalar::Double((left as f64).powf(right as f64))),
        Function::HashFnv1a => Ok(Scalar::Integer(hash::fnv1a(left, right))),
        Function::HashMurmur2 => Ok(Scalar::Integer(hash::murmur2(left, right))),
        other => unreachable!("{other:?} is no operator on two integers"),
    }
}

fn single(function: Function, value: Scalar) -> Evaluated {
    Ok(match function {
        Function::Abs => match value {
            Scalar::Integer(value) => Scalar::Integer(value.wrapping_abs()),
            other => Scalar::Double(other.double()?.abs()),
        },
        Function::Double => Scalar::Double(value.double()?),
        Function::Exp => Scalar::Double(value.double()?.exp()),
        Function::Int => Scalar::Integer(value.integer()?),
        Function::Ln => Scalar::Double(value.double()?.ln()),
        Function::Not => Scalar::Boolean(!value.boolean()?),
        Function::Sqrt => Scalar::Double(value.double()?.sqrt()),
        other => unreachable!("{other:?} does not take one argument"),
    })
}

/// `greatest` and `least`: a double if one argument is.
fn extreme(function: Function, operands: &[Expression], scope: &mut Scope<'_>) -> Evaluated {
    let mut scalars = [Scalar::Null; ARGUMENTS_MAX];
    for (scalar, operand) in scalars.iter_mut().zip(operands) {
        *scalar = operand.evaluate(scope)?;
    }
    let Some(scalars) = scalars.get(..operands.len()) else {
        return said(&format!("too many function arguments, maximum is {ARGUMENTS_MAX}"));
    };
    if scalars.contains(&Scalar::Null) {
        return Ok(Scalar::Null);
    }
    let greatest = function == Function::Greatest;
    if scalars.iter().any(|scalar| matches!(scalar, Scalar::Double(_))) {
        let mut extremum = scalars[0].double()?;
        for scalar in &scalars[1..] {
            let other = scalar.double()?;
            // As C's macros do it: a comparison with what is no number is false.
            let keeps = if greatest { extremum > other } else { extremum < other };
            extremum = if keeps { extremum } else { other };
        }
        return Ok(Scalar::Double(extremum));
    }
    let mut extremum = scalars[0].integer()?;
    for scalar in &scalars[1..] {
        let other = scalar.integer()?;
        extremum = if greatest { extremum.max(other) } else { extremum.min(other) };
    }
    Ok(Scalar::Integer(extremum))
}

#[cfg(test)]
mod tests {
    use super::super::{expression, token, value};
    use super::*;

    /// Evaluates with `:a` = 1, `:b` = 2.5, `:t` = "7", `:u` unset.
    fn evaluate(text: &str) -> Result<String, String> {
        let variables = [Scalar::Integer(1).into(), Scalar::Double(2.5).into(), Value::Text("7".into()), Value::Unset];
        let mut slot_of = |name: &str, _| "abtu".find(name).expect("a known name");
        let tokens = token::tokens(text, 0);
        let expression = expression::parse(&tokens, text.len(), &mut slot_of).map_err(|fault| match fault.about {
            Some(about) => format!("{} ({about})", fault.what),
            None => fault.what,
        })?;
        let names = ["a", "b", "t", "u"].map(Box::from);
        let mut shown = Vec::new();
        let mut scope = Scope { variables: &variables, prng: &mut Prng::seeded(0), shown: &mut shown };
        expression.evaluate(&mut scope).map_err(|error| error.words(&names).expect("words")).map(|value| match value {
            Scalar::Null => "null".to_owned(),
            Scalar::Boolean(value) => value.to_string(),
            Scalar::Integer(value) => value.to_string(),
            Scalar::Double(value) => {
                let mut text = Vec::new();
                value::write_double(value, &mut text);
                String::from_utf8(text).unwrap() + "d"
            }
        })
    }

    fn check(cases: &[(&str, &str)]) {
        for (text, expect) in cases {
            assert_eq!(evaluate(text).as_deref(), Ok(*expect), "{text}");
        }
    }

    #[test]
    fn operators_bind_as_in_pgbench() {
        check(&[
            ("1 + 2 * 3", "7"),
            ("(1 + 2) * 3", "9"),
            ("10 - 3 - 4", "3"),
            ("7 / 2 * 2", "6"),
            ("-7 / 2", "-3"),
            ("-7 % 3", "-1"),
            ("- 2 + 5", "3"),
            ("2 * -3", "-6"),
            ("1 << 2 + 1", "8"),
            ("5 & 3 | 8", "9"),
            ("~ 0", "-1"),
            ("~ 1 + 2", "-4"),
            ("~ 0 | 5", "-1"),
            ("1 IS NULL IS FALSE", "true"),
            ("1 + 1 = 2 AND NOT 2 < 1", "true"),
            ("NOT 1 = 2 OR FALSE", "true"),
            ("NULL IS NULL", "true"),
            ("1 < 2 IS TRUE", "true"),
            ("NOT NULL ISNULL", "false"),
            ("1 NOTNULL", "true"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("3 > 2 and 3 >= 3 and 1 <> 2 and 1 != 2", "true"),
        ]);
    }

    #[test]
    fn types_are_those_of_pgbench() {
        check(&[
            (":a + :b", "3.5d"),
            (":t * 2", "14"),
            ("1e3", "1000d"),
            (".5 + 1.", "1.5d"),
            ("int(2.5)", "2"),
            ("double(1)", "1d"),
            ("7 / 2.0", "3.5d"),
            ("1 + NULL", "null"),
            ("abs(-3)", "3"),
            ("greatest(1, 2, :b)", "2.5d"),
            ("least(3, 1, 2)", "1"),
            ("least(2.5, 1)", "1d"),
            ("greatest(9007199254740993, 9007199254740992)", "9007199254740993"),
            ("greatest(1, NULL, TRUE)", "null"),
            ("mod(7, 4)", "3"),
            ("pow(2, 10)", "1024d"),
            ("sqrt(4) + ln(1) + exp(0)", "3d"),
            ("CASE WHEN 1 = 2 THEN 1 WHEN TRUE THEN 5 ELSE 3 END", "5"),
            ("case when false then 1 end", "null"),
            ("TRUE OR 1 / 0 = 1", "true"),
            ("FALSE AND 1 / 0 = 1", "false"),
            ("hash(10, 5432)", "-5817877081768721676"),
            ("random(5, 5)", "5"),
        ]);
    }

    #[test]
    fn what_cannot_be_computed_is_an_error() {
        for (text, expect) in [
            ("1 / 0", "division by zero"),
            ("9223372036854775807 + 1", "bigint add out of range"),
            ("-9223372036854775808 / -1", "bigint div out of range"),
            (":u + 1", "undefined variable \"u\""),
            ("least(0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16)", "too many function arguments, maximum is 16"),
            ("int(1E32)", "double to int overflow for 100000000000000005366162204393472.000000"),
            ("random(2, 1)", "empty range given to random"),
            ("random_zipfian(1, 10, 1.0)", "zipfian parameter must be in range [1.001, 1000] (not 1.000000)"),
            ("1 AND TRUE", "cannot coerce int to boolean"),
            ("NOT 1", "cannot coerce int to boolean"),
            ("pow(0, TRUE)", "cannot coerce boolean to double"),
            ("when(1)", "syntax error"),
            ("greatest(1, TRUE)", "cannot coerce boolean to int"),
            ("least(TRUE, 1.5)", "cannot coerce boolean to double"),
            ("9223372036854775808", "syntax error"),
            ("9223372036854775809", "bigint constant overflow (9223372036854775809)"),
            ("1e400", "double constant overflow (1e400)"),
            ("1 < 2 < 3", "syntax error"),
            ("1 +", "syntax error"),
            ("1 2", "syntax error"),
            ("nosuch(1)", "unexpected function name (nosuch)"),
            ("random(1)", "unexpected number of arguments (random)"),
            ("greatest()", "at least one argument expected (greatest)"),
            ("1 ? 2", "unexpected character (?)"),
            ("1 2 ?", "syntax error"),
            ("", "syntax error"),
        ] {
            assert_eq!(evaluate(text), Err(expect.to_owned()), "{text}");
        }
        assert!(evaluate(&"(".repeat(500)).unwrap_err().contains("nested deeper"));
    }
}
