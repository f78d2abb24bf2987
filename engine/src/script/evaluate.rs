//! Computes an expression from the values of a client's variables. Errors are those of pgbench;
//! who catches one knows the place in the script.

use super::expression::Expression;
use super::function::Function;
use super::hash;
use super::random::{Prng, Range};
use super::value::Value;

/// pgbench's limits on the shapes of its distributions.
const GAUSSIAN_PARAMETER_MIN: f64 = 2.0;
const ZIPFIAN_PARAMETERS: std::ops::RangeInclusive<f64> = 1.001..=1000.0;

type Evaluated = Result<Value, String>;

impl Expression {
    #[inline]
    pub fn evaluate(&self, variables: &[Value], prng: &mut Prng) -> Evaluated {
        match self {
            Expression::Constant(value) => Ok(value.clone()),
            Expression::Variable(slot) => match &variables[*slot] {
                Value::Integer(value) => Ok(Value::Integer(*value)),
                Value::Unset => Err("undefined variable".to_owned()),
                Value::Text(text) => Value::guess(text).ok_or_else(|| format!("malformed variable value: \"{text}\"")),
                other => Ok(other.clone()),
            },
            Expression::Call(function, arguments) => {
                let arguments = Arguments { expressions: arguments, variables, prng };
                call(*function, arguments)
            }
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
            Expression::Is(operand, value) => Ok(Value::Boolean(operand.evaluate(variables, prng)? == *value)),
        }
    }
}

/// AND and OR: the first operand decides alone if it is `decisive`.
fn logical(operands: &[Expression; 2], decisive: bool, variables: &[Value], prng: &mut Prng) -> Evaluated {
    for operand in operands {
        match operand.evaluate(variables, prng)? {
            Value::Null => return Ok(Value::Null),
            value if value.boolean()? == decisive => return Ok(Value::Boolean(decisive)),
            _ => {}
        }
    }
    Ok(Value::Boolean(!decisive))
}

struct Arguments<'a> {
    expressions: &'a [Expression],
    variables: &'a [Value],
    prng: &'a mut Prng,
}

impl Arguments<'_> {
    /// All arguments, first to last; `None` if one is NULL.
    #[inline]
    fn take<const N: usize>(&mut self) -> Result<Option<[Value; N]>, String> {
        let mut values = [const { Value::Null }; N];
        let mut null = false;
        for (value, expression) in values.iter_mut().zip(self.expressions) {
            *value = expression.evaluate(self.variables, self.prng)?;
            null |= *value == Value::Null;
        }
        Ok((!null).then_some(values))
    }
}

fn call(function: Function, mut arguments: Arguments<'_>) -> Evaluated {
    use Function::*;
    match function {
        Random => {
            let Some([min, max]) = arguments.take()? else { return Ok(Value::Null) };
            let range = Range::new(min.integer()?, max.integer()?)?;
            Ok(Value::Integer(arguments.prng.uniform(range)))
        }
        RandomExponential | RandomGaussian | RandomZipfian => {
            let Some([min, max, parameter]) = arguments.take()? else { return Ok(Value::Null) };
            let range = Range::new(min.integer()?, max.integer()?)?;
            skewed(function, range, parameter.double()?, arguments.prng).map(Value::Integer)
        }
        Add | Subtract | Multiply | Divide | Equal | NotEqual | Less | LessOrEqual => match arguments.take()? {
            Some([left, right]) => arithmetic(function, left, right),
            None => Ok(Value::Null),
        },
        Modulo | BitAnd | BitOr | BitXor | ShiftLeft | ShiftRight | HashFnv1a | HashMurmur2 => {
            match arguments.take()? {
                Some([left, right]) => integers(function, left.integer()?, right.integer()?),
                None => Ok(Value::Null),
            }
        }
        Power => match arguments.take()? {
            Some([base, exponent]) => Ok(Value::Double(base.double()?.powf(exponent.double()?))),
            None => Ok(Value::Null),
        },
        Abs | Double | Exp | Int | Ln | Not | Sqrt => match arguments.take()? {
            Some([value]) => single(function, value),
            None => Ok(Value::Null),
        },
        Pi => Ok(Value::Double(std::f64::consts::PI)),
        Permute => {
            let Some([value, size, seed]) = arguments.take()? else { return Ok(Value::Null) };
            let (value, size, seed) = (value.integer()?, size.integer()?, seed.integer()?);
            if size <= 0 {
                return Err("permute size parameter must be greater than zero".to_owned());
            }
            Ok(Value::Integer(hash::permute(value, size, seed)))
        }
        Greatest | Least => extreme(function, arguments),
    }
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

/// Operators on two numbers: on doubles if one is, else on integers.
fn arithmetic(function: Function, left: Value, right: Value) -> Evaluated {
    if matches!(left, Value::Double(_)) || matches!(right, Value::Double(_)) {
        let (left, right) = (left.double()?, right.double()?);
        return Ok(match function {
            Function::Add => Value::Double(left + right),
            Function::Subtract => Value::Double(left - right),
            Function::Multiply => Value::Double(left * right),
            Function::Divide => Value::Double(left / right),
            Function::Equal => Value::Boolean(left == right),
            Function::NotEqual => Value::Boolean(left != right),
            Function::Less => Value::Boolean(left < right),
            Function::LessOrEqual => Value::Boolean(left <= right),
            other => unreachable!("{other:?} is no operator on two numbers"),
        });
    }
    integers(function, left.integer()?, right.integer()?)
}

fn integers(function: Function, left: i64, right: i64) -> Evaluated {
    let checked = |result: Option<i64>, name: &str| {
        result.map(Value::Integer).ok_or_else(|| format!("bigint {name} out of range"))
    };
    match function {
        Function::Add => checked(left.checked_add(right), "add"),
        Function::Subtract => checked(left.checked_sub(right), "sub"),
        Function::Multiply => checked(left.checked_mul(right), "mul"),
        Function::Divide | Function::Modulo if right == 0 => Err("division by zero".to_owned()),
        Function::Divide => checked(left.checked_div(right), "div"),
        // Wrapping only concerns the smallest bigint % -1, which is 0.
        Function::Modulo => Ok(Value::Integer(left.wrapping_rem(right))),
        Function::Equal => Ok(Value::Boolean(left == right)),
        Function::NotEqual => Ok(Value::Boolean(left != right)),
        Function::Less => Ok(Value::Boolean(left < right)),
        Function::LessOrEqual => Ok(Value::Boolean(left <= right)),
        Function::BitAnd => Ok(Value::Integer(left & right)),
        Function::BitOr => Ok(Value::Integer(left | right)),
        Function::BitXor => Ok(Value::Integer(left ^ right)),
        // C leaves shifts by more than 63 bits open; the processors that pgbench runs on wrap.
        Function::ShiftLeft => Ok(Value::Integer(left.wrapping_shl(right as u32))),
        Function::ShiftRight => Ok(Value::Integer(left.wrapping_shr(right as u32))),
        Function::HashFnv1a => Ok(Value::Integer(hash::fnv1a(left, right))),
        Function::HashMurmur2 => Ok(Value::Integer(hash::murmur2(left, right))),
        other => unreachable!("{other:?} is no operator on two integers"),
    }
}

fn single(function: Function, value: Value) -> Evaluated {
    Ok(match function {
        Function::Abs => match value {
            Value::Integer(value) => Value::Integer(value.wrapping_abs()),
            other => Value::Double(other.double()?.abs()),
        },
        Function::Double => Value::Double(value.double()?),
        Function::Exp => Value::Double(value.double()?.exp()),
        Function::Int => Value::Integer(value.integer()?),
        Function::Ln => Value::Double(value.double()?.ln()),
        Function::Not => Value::Boolean(!value.boolean()?),
        Function::Sqrt => Value::Double(value.double()?.sqrt()),
        other => unreachable!("{other:?} does not take one argument"),
    })
}

/// `greatest` and `least`: a double if one argument is.
fn extreme(function: Function, arguments: Arguments<'_>) -> Evaluated {
    let Arguments { expressions, variables, prng } = arguments;
    let mut values = Vec::with_capacity(expressions.len());
    for expression in expressions {
        values.push(expression.evaluate(variables, prng)?);
    }
    if values.contains(&Value::Null) {
        return Ok(Value::Null);
    }
    if values.iter().any(|value| matches!(value, Value::Double(_))) {
        let values: Vec<f64> = values.iter().map(Value::double).collect::<Result<_, _>>()?;
        let pick = if function == Function::Greatest { f64::max } else { f64::min };
        return Ok(Value::Double(values.into_iter().reduce(pick).expect("parsed with at least one")));
    }
    let values: Vec<i64> = values.iter().map(Value::integer).collect::<Result<_, _>>()?;
    let pick = if function == Function::Greatest { i64::max } else { i64::min };
    Ok(Value::Integer(values.into_iter().reduce(pick).expect("parsed with at least one")))
}

#[cfg(test)]
mod tests {
    use super::super::{expression, token, value};
    use super::*;

    /// Evaluates with `:a` = 1, `:b` = 2.5, `:t` = "7", `:u` unset.
    fn evaluate(text: &str) -> Result<String, String> {
        let variables = [Value::Integer(1), Value::Double(2.5), Value::Text("7".into()), Value::Unset];
        let tokens = token::tokens(text, 0).map_err(|fault| fault.what)?;
        let mut slot_of = |name: &str, _| "abtu".find(name).expect("a known name");
        let expression = expression::parse(&tokens, text.len(), &mut slot_of).map_err(|fault| fault.what)?;
        expression.evaluate(&variables, &mut Prng::seeded(0)).map(|value| match value {
            Value::Null => "null".to_owned(),
            Value::Boolean(value) => value.to_string(),
            Value::Integer(value) => value.to_string(),
            Value::Double(value) => format!("{}d", value::double_text(value)),
            other => panic!("{other:?} is no result"),
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
