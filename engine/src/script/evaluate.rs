//! Computes an expression from the values of a client's variables. Errors are those of pgbench;
//! who catches one knows the place in the script.

use super::expression::Expression;
use super::function::Function;
use super::hash;
use super::random::{Prng, Range};
use super::value::{Scalar, Value};

/// pgbench's limits on the shapes of its distributions.
const GAUSSIAN_PARAMETER_MIN: f64 = 2.0;
const ZIPFIAN_PARAMETERS: std::ops::RangeInclusive<f64> = 1.001..=1000.0;

type Evaluated = Result<Scalar, String>;

impl Expression {
    /// NULL if an argument is, once all of them are evaluated: they may draw random numbers.
    #[inline]
    pub fn evaluate(&self, variables: &[Value], prng: &mut Prng) -> Evaluated {
        match self {
            Expression::Constant(scalar) => Ok(*scalar),
            Expression::Variable(slot) => variables[*slot].scalar(),
            Expression::Unary(function, operand) => match operand.evaluate(variables, prng)? {
                Scalar::Null => Ok(Scalar::Null),
                operand => single(*function, operand),
            },
            Expression::Binary(function, operands) => {
                let left = operands[0].evaluate(variables, prng)?;
                let right = operands[1].evaluate(variables, prng)?;
                match (left, right) {
                    (Scalar::Integer(left), Scalar::Integer(right)) => integers(*function, left, right, prng),
                    (Scalar::Null, _) | (_, Scalar::Null) => Ok(Scalar::Null),
                    (left, right) => mixed(*function, left, right, prng),
                }
            }
            Expression::Ternary(function, operands) => {
                let first = operands[0].evaluate(variables, prng)?;
                let second = operands[1].evaluate(variables, prng)?;
                let third = operands[2].evaluate(variables, prng)?;
                match [first, second, third].contains(&Scalar::Null) {
                    true => Ok(Scalar::Null),
                    false => triple(*function, first.integer()?, second.integer()?, third, prng),
                }
            }
            Expression::Extreme(function, operands) => extreme(*function, operands, variables, prng),
            Expression::And(operands) => logical(operands, false, variables, prng),
            Expression::Or(operands) => logical(operands, true, variables, prng),
            Expression::Case { branches, otherwise } => {
                for (condition, value) in branches {
                    if condition.evaluate(variables, prng)?.is_true() {
                        return value.evaluate(variables, prng);
                    }
                }
                otherwise.evaluate(variables, prng)
            }
            Expression::Is(operand, scalar) => Ok(Scalar::Boolean(operand.evaluate(variables, prng)? == *scalar)),
        }
    }
}

/// AND and OR: the first operand decides alone if it is `decisive`.
fn logical(operands: &[Expression; 2], decisive: bool, variables: &[Value], prng: &mut Prng) -> Evaluated {
    for operand in operands {
        match operand.evaluate(variables, prng)? {
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
            _ => Err("permute size parameter must be greater than zero".to_owned()),
        };
    }
    skewed(function, Range::new(first, second)?, third.double()?, prng).map(Scalar::Integer)
}

fn skewed(function: Function, range: Range, parameter: f64, prng: &mut Prng) -> Result<i64, String> {
    match function {
        Function::RandomExponential if parameter > 0.0 => Ok(prng.exponential(range, parameter)),
        Function::RandomExponential => {
            Err(format!("exponential parameter must be greater than zero (not {parameter:.6})"))
        }
        Function::RandomGaussian if parameter >= GAUSSIAN_PARAMETER_MIN => Ok(prng.gaussian(range, parameter)),
        Function::RandomGaussian => {
            Err(format!("gaussian parameter must be at least {GAUSSIAN_PARAMETER_MIN:.6} (not {parameter:.6})"))
        }
        _ if ZIPFIAN_PARAMETERS.contains(&parameter) => Ok(prng.zipfian(range, parameter)),
        _ => Err(format!("zipfian parameter must be in range [1.001, 1000] (not {parameter:.6})")),
    }
}

/// Two arguments that are not both integers: operators on numbers take doubles if one is, all else
/// takes integers.
fn mixed(function: Function, left: Scalar, right: Scalar, prng: &mut Prng) -> Evaluated {
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
        Function::Power => Scalar::Double(left.powf(right)),
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
        result.map(Scalar::Integer).ok_or_else(|| format!("bigint {name} out of range"))
    };
    match function {
        Function::Add => checked(left.checked_add(right), "add"),
        Function::Subtract => checked(left.checked_sub(right), "sub"),
        Function::Multiply => checked(left.checked_mul(right), "mul"),
        Function::Divide | Function::Modulo if right == 0 => Err("division by zero".to_owned()),
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
        Function::Random => Ok(Scalar::Integer(prng.uniform(Range::new(left, right)?))),
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

/// `greatest` and `least`: a double if one argument is. Which they are is known after the last one
/// only, so both are kept up to there.
fn extreme(function: Function, operands: &[Expression], variables: &[Value], prng: &mut Prng) -> Evaluated {
    let greatest = function == Function::Greatest;
    let doubles = if greatest { f64::max } else { f64::min };
    let integers = if greatest { i64::max } else { i64::min };
    let (mut double, mut integer) = (None, None);
    let (mut any_double, mut any_null, mut boolean) = (false, false, None);
    for operand in operands {
        let scalar = operand.evaluate(variables, prng)?;
        let as_double = match scalar {
            Scalar::Integer(value) => {
                integer = Some(integer.map_or(value, |last| integers(last, value)));
                value as f64
            }
            Scalar::Double(value) => {
                any_double = true;
                value
            }
            Scalar::Null => {
                any_null = true;
                continue;
            }
            Scalar::Boolean(_) => {
                boolean = Some(scalar);
                continue;
            }
        };
        double = Some(double.map_or(as_double, |last| doubles(last, as_double)));
    }
    match boolean {
        _ if any_null => Ok(Scalar::Null),
        // Refused in the words of the type that it would have had to become.
        Some(boolean) if any_double => boolean.double().map(Scalar::Double),
        Some(boolean) => boolean.integer().map(Scalar::Integer),
        None if any_double => Ok(Scalar::Double(double.expect("there was a double"))),
        None => Ok(Scalar::Integer(integer.expect("parsed with at least one argument"))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{expression, token, value};
    use super::*;

    /// Evaluates with `:a` = 1, `:b` = 2.5, `:t` = "7", `:u` unset.
    fn evaluate(text: &str) -> Result<String, String> {
        let variables = [Scalar::Integer(1).into(), Scalar::Double(2.5).into(), Value::Text("7".into()), Value::Unset];
        let tokens = token::tokens(text, 0).map_err(|fault| fault.what)?;
        let mut slot_of = |name: &str, _| "abtu".find(name).expect("a known name");
        let expression = expression::parse(&tokens, text.len(), &mut slot_of).map_err(|fault| fault.what)?;
        expression.evaluate(&variables, &mut Prng::seeded(0)).map(|value| match value {
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
            (":u + 1", "undefined variable"),
            ("random(2, 1)", "empty range given to random"),
            ("random_zipfian(1, 10, 1.0)", "zipfian parameter must be in range [1.001, 1000] (not 1.000000)"),
            ("1 AND TRUE", "cannot coerce int to boolean"),
            ("NOT 1", "cannot coerce int to boolean"),
            ("greatest(1, TRUE)", "cannot coerce boolean to int"),
            ("least(TRUE, 1.5)", "cannot coerce boolean to double"),
            ("9223372036854775808", "9223372036854775808 is out of range for a bigint"),
            ("1 < 2 < 3", "syntax error at `<`"),
            ("1 +", "the expression ends too early"),
            ("1 2", "syntax error at `2`"),
            ("nosuch(1)", "unknown function \"nosuch\""),
            ("random(1)", "wrong number of arguments for function \"random\": 1"),
            ("1 ? 2", "unexpected character `?`"),
            ("", "the expression ends too early"),
        ] {
            assert_eq!(evaluate(text), Err(expect.to_owned()), "{text}");
        }
        assert!(evaluate(&"(".repeat(500)).unwrap_err().contains("nested deeper"));
    }
}
