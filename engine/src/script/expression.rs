//! Expressions of `\set`: tokens in, tree out, by climbing the precedences of pgbench's grammar.

use super::Fault;
use super::function::{self, Arity, Function};
use super::token::{Placed, Token, Tokens};
use super::value::Scalar;

/// The index of a variable in every client's array of values.
pub type Slot = usize;

#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    Constant(Scalar),
    Variable(Slot),
    Unary(Function, Box<Expression>),
    Binary(Function, Box<[Expression; 2]>),
    Ternary(Function, Box<[Expression; 3]>),
    /// `debug()`: shows the value and is it.
    Debug(Box<Expression>),
    /// `greatest` and `least`.
    Extreme(Function, Box<[Expression]>),
    /// These three evaluate only what they need.
    And(Box<[Expression; 2]>),
    Or(Box<[Expression; 2]>),
    Case {
        branches: Box<[(Expression, Expression)]>,
        otherwise: Box<Expression>,
    },
    Is(Box<Expression>, Scalar),
}

impl Expression {
    /// Whether `debug()` is called in it.
    pub fn shows(&self) -> bool {
        let any = |operands: &[Expression]| operands.iter().any(Expression::shows);
        match self {
            Expression::Debug(_) => true,
            Expression::Constant(_) | Expression::Variable(_) => false,
            Expression::Unary(_, operand) | Expression::Is(operand, _) => operand.shows(),
            Expression::Binary(_, operands) | Expression::And(operands) | Expression::Or(operands) => {
                any(&operands[..])
            }
            Expression::Ternary(_, operands) => any(&operands[..]),
            Expression::Extreme(_, operands) => any(operands),
            Expression::Case { branches, otherwise } => {
                otherwise.shows() || branches.iter().any(|(condition, value)| condition.shows() || value.shows())
            }
        }
    }
}

/// An expression that is longer or nested deeper than any person would write would only exhaust
/// the stack.
const TOKENS_MAX: usize = 4096;
const DEPTH_MAX: usize = 100;
/// Parses all of `tokens`. `slot_of` gives a variable's slot; `end` is where the text ends.
pub fn parse(
    tokens: &Tokens<'_>,
    end: usize,
    slot_of: &mut dyn FnMut(&str, usize) -> Slot,
) -> Result<Expression, Fault> {
    let Tokens { tokens, fault } = tokens;
    if tokens.len() > TOKENS_MAX {
        return Err(Fault::new(tokens[0].at, format!("an expression of more than {TOKENS_MAX} words")));
    }
    let mut parser = Parser { tokens, fault: fault.as_ref(), next: 0, end, depth: 0, slot_of };
    let expression = parser.operators(0)?;
    match parser.peek() {
        None if fault.is_none() => Ok(expression),
        _ => Err(parser.unexpected()),
    }
}

/// Strengths of binding, weakest first, as in pgbench's exprparse.y.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const IS: u8 = 4;
const COMPARE: u8 = 5;
const BITS: u8 = 6;
const ADD: u8 = 7;
const MULTIPLY: u8 = 8;
const UNARY: u8 = 9;

struct Parser<'a, 'b> {
    tokens: &'b [Placed<'a>],
    /// What stands behind the last token and is none.
    fault: Option<&'b Fault>,
    next: usize,
    end: usize,
    depth: usize,
    slot_of: &'b mut dyn FnMut(&str, usize) -> Slot,
}

/// An operator behind its left operand.
#[derive(Clone, Copy)]
enum Infix {
    Or,
    And,
    Is,
    IsNull,
    NotNull,
    Call(Function),
    /// `a > b` is `b < a`, evaluated in that order: the draws of random() depend on it.
    Swapped(Function),
}

impl<'a> Parser<'a, '_> {
    fn peek(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.next).map(|placed| &placed.token)
    }

    fn at(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |placed| placed.at)
    }

    fn unexpected(&self) -> Fault {
        match (self.tokens.get(self.next), self.fault) {
            (Some(placed), _) => Fault::new(placed.at, "syntax error").up_to(placed.end),
            (None, Some(fault)) => fault.clone(),
            (None, None) => Fault::new(self.end, "syntax error"),
        }
    }

    /// Something is wrong with the call of a function whose last token was just taken.
    fn misused(&self, at: usize, what: &str, name: &str) -> Fault {
        Fault::new(at, what).up_to(self.tokens[self.next - 1].end).about(name)
    }

    fn take_symbol(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Symbol(found)) if *found == symbol);
        self.next += usize::from(found);
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(found)) if found.eq_ignore_ascii_case(word));
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, found: bool) -> Result<(), Fault> {
        if found { Ok(()) } else { Err(self.unexpected()) }
    }

    /// The operator ahead and how strongly it binds.
    fn infix(&self) -> Option<(Infix, u8)> {
        let call = |function, strength| Some((Infix::Call(function), strength));
        match self.peek()? {
            Token::Symbol(symbol) => match *symbol {
                "<" => call(Function::Less, COMPARE),
                "<=" => call(Function::LessOrEqual, COMPARE),
                "=" => call(Function::Equal, COMPARE),
                "<>" | "!=" => call(Function::NotEqual, COMPARE),
                ">" => Some((Infix::Swapped(Function::Less), COMPARE)),
                ">=" => Some((Infix::Swapped(Function::LessOrEqual), COMPARE)),
                "|" => call(Function::BitOr, BITS),
                "#" => call(Function::BitXor, BITS),
                "&" => call(Function::BitAnd, BITS),
                "<<" => call(Function::ShiftLeft, BITS),
                ">>" => call(Function::ShiftRight, BITS),
                "+" => call(Function::Add, ADD),
                "-" => call(Function::Subtract, ADD),
                "*" => call(Function::Multiply, MULTIPLY),
                "/" => call(Function::Divide, MULTIPLY),
                "%" => call(Function::Modulo, MULTIPLY),
                _ => None,
            },
            Token::Word(word) => match word.to_ascii_lowercase().as_str() {
                "or" => Some((Infix::Or, OR)),
                "and" => Some((Infix::And, AND)),
                "is" => Some((Infix::Is, IS)),
                "isnull" => Some((Infix::IsNull, IS)),
                "notnull" => Some((Infix::NotNull, IS)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Everything that binds more strongly than `weakest`.
    fn operators(&mut self, weakest: u8) -> Result<Expression, Fault> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Fault::new(self.at(), format!("an expression nested deeper than {DEPTH_MAX}")));
        }
        let mut left = self.operand()?;
        while let Some((infix, strength)) = self.infix() {
            if strength <= weakest {
                break;
            }
            self.next += 1;
            left = match infix {
                Infix::Or => Expression::Or(Box::new([left, self.operators(strength)?])),
                Infix::And => Expression::And(Box::new([left, self.operators(strength)?])),
                Infix::Call(function) => binary(function, left, self.operators(strength)?),
                Infix::Swapped(function) => binary(function, self.operators(strength)?, left),
                Infix::Is => self.is(left)?,
                Infix::IsNull => Expression::Is(Box::new(left), Scalar::Null),
                Infix::NotNull => not(Expression::Is(Box::new(left), Scalar::Null)),
            };
            // `a < b < c` means nothing in pgbench.
            let chained = strength == COMPARE && self.infix().is_some_and(|(_, next)| next == strength);
            self.expect(!chained)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn is(&mut self, left: Expression) -> Result<Expression, Fault> {
        let negated = self.take_word("not");
        let value = match () {
            _ if self.take_word("null") => Scalar::Null,
            _ if self.take_word("true") => Scalar::Boolean(true),
            _ if self.take_word("false") => Scalar::Boolean(false),
            _ => return Err(self.unexpected()),
        };
        let is = Expression::Is(Box::new(left), value);
        Ok(if negated { not(is) } else { is })
    }

    fn operand(&mut self) -> Result<Expression, Fault> {
        let at = self.at();
        let Some(token) = self.peek().cloned() else { return Err(self.unexpected()) };
        self.next += 1;
        match token {
            Token::Integer(value) => match i64::try_from(value) {
                Ok(value) => Ok(Expression::Constant(Scalar::Integer(value))),
                Err(_) => {
                    self.next -= 1;
                    Err(self.unexpected())
                }
            },
            Token::Double(value) => Ok(Expression::Constant(Scalar::Double(value))),
            Token::Variable(name) => Ok(Expression::Variable((self.slot_of)(name, at))),
            Token::Symbol("(") => {
                let inner = self.operators(0)?;
                let closed = self.take_symbol(")");
                self.expect(closed)?;
                Ok(inner)
            }
            Token::Symbol("+") => self.operators(UNARY - 1),
            Token::Symbol("-") => self.minus(),
            Token::Symbol("~") => {
                let minus_one = Expression::Constant(Scalar::Integer(-1));
                // pgbench's `~` binds as `#` does, which it stands for: `~ 1 + 2` is `~ (1 + 2)`.
                Ok(binary(Function::BitXor, minus_one, self.operators(BITS)?))
            }
            Token::Word(word) => self.word(word, at),
            Token::Symbol(_) => {
                self.next -= 1;
                Err(self.unexpected())
            }
        }
    }

    /// A number keeps its sign; anything else is subtracted from zero. The smallest bigint has no
    /// positive twin, so its digits are allowed behind a minus only.
    fn minus(&mut self) -> Result<Expression, Fault> {
        const MINIMUM: u64 = i64::MIN.unsigned_abs();
        if let Some(Token::Integer(MINIMUM)) = self.peek() {
            self.next += 1;
            return Ok(Expression::Constant(Scalar::Integer(i64::MIN)));
        }
        let zero = Expression::Constant(Scalar::Integer(0));
        Ok(match self.operators(UNARY - 1)? {
            Expression::Constant(Scalar::Integer(value)) if value != i64::MIN => {
                Expression::Constant(Scalar::Integer(-value))
            }
            operand => binary(Function::Subtract, zero, operand),
        })
    }

    fn word(&mut self, word: &str, at: usize) -> Result<Expression, Fault> {
        match word.to_ascii_lowercase().as_str() {
            "null" => Ok(Expression::Constant(Scalar::Null)),
            "true" => Ok(Expression::Constant(Scalar::Boolean(true))),
            "false" => Ok(Expression::Constant(Scalar::Boolean(false))),
            "not" => Ok(not(self.operators(NOT - 1)?)),
            "case" => self.case(),
            "and" | "else" | "end" | "is" | "isnull" | "notnull" | "or" | "then" | "when" => {
                self.next -= 1;
                Err(self.unexpected())
            }
            _ => self.function(word, at),
        }
    }

    fn case(&mut self) -> Result<Expression, Fault> {
        let mut branches = Vec::new();
        while self.take_word("when") {
            let condition = self.operators(0)?;
            let then = self.take_word("then");
            self.expect(then)?;
            branches.push((condition, self.operators(0)?));
        }
        self.expect(!branches.is_empty())?;
        let otherwise = match self.take_word("else") {
            true => self.operators(0)?,
            false => Expression::Constant(Scalar::Null),
        };
        let ended = self.take_word("end");
        self.expect(ended)?;
        Ok(Expression::Case { branches: branches.into(), otherwise: Box::new(otherwise) })
    }

    fn function(&mut self, name: &str, at: usize) -> Result<Expression, Fault> {
        let Some((known, function, arity)) = function::named(name) else {
            return Err(self.misused(at, "unexpected function name", name));
        };
        let mut arguments = self.arguments()?;
        let count = arguments.len();
        let name = known;
        match arity {
            Arity::AtLeastOne if count == 0 => return Err(self.misused(at, "at least one argument expected", name)),
            Arity::AtLeastOne => {}
            Arity::Exactly(wanted) if count == wanted => {}
            Arity::Seeded(wanted) if count == wanted || count + 1 == wanted => {}
            _ => return Err(self.misused(at, "unexpected number of arguments", name)),
        }
        if arity == Arity::Seeded(count + 1) {
            arguments.push(Expression::Variable((self.slot_of)("default_seed", at)));
        }
        Ok(call(function, arguments))
    }

    fn arguments(&mut self) -> Result<Vec<Expression>, Fault> {
        let opened = self.take_symbol("(");
        self.expect(opened)?;
        let mut arguments = Vec::new();
        if self.take_symbol(")") {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.operators(0)?);
            if self.take_symbol(")") {
                return Ok(arguments);
            }
            let comma = self.take_symbol(",");
            self.expect(comma)?;
        }
    }
}

/// `arguments` are as many as the function takes.
fn call(function: Function, arguments: Vec<Expression>) -> Expression {
    if function == Function::Pi {
        return Expression::Constant(Scalar::Double(std::f64::consts::PI));
    }
    if matches!(function, Function::Greatest | Function::Least) {
        return Expression::Extreme(function, arguments.into());
    }
    let mut arguments = arguments.into_iter();
    if function == Function::Debug {
        return Expression::Debug(Box::new(arguments.next().expect("counted")));
    }
    match (arguments.next(), arguments.next(), arguments.next()) {
        (Some(only), None, None) => Expression::Unary(function, Box::new(only)),
        (Some(left), Some(right), None) => binary(function, left, right),
        (Some(first), Some(second), Some(third)) => Expression::Ternary(function, Box::new([first, second, third])),
        _ => unreachable!("only pi() takes no argument"),
    }
}

fn binary(function: Function, left: Expression, right: Expression) -> Expression {
    Expression::Binary(function, Box::new([left, right]))
}

fn not(operand: Expression) -> Expression {
    Expression::Unary(Function::Not, Box::new(operand))
}
