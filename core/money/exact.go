package money

import (
	"fmt"
	"math/big"
	"strings"
)

// Exact is a sum of products of minor units and rates: a decimal of any size with at most 62 decimals, which is never
// rounded. The zero Exact is 0. An Exact is immutable, and compared by Equal.
type Exact struct {
	scaled *big.Int // × 10^maxPlaces
	_      [0]func()
}

var (
	exactUnit = new(big.Int).Exp(big.NewInt(10), big.NewInt(maxPlaces), nil)
	// exactPowers are 10^n for n up to maxPlaces.
	exactPowers = func() (powers [maxPlaces + 1]*big.Int) {
		for n := range powers {
			powers[n] = new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
		}
		return powers
	}()
)

// Times returns minor × r, which may be negative.
func (r Rate) Times(minor int64) Exact {
	product := new(big.Int).Mul(r.coefficient(), big.NewInt(minor))
	return Exact{scaled: product.Mul(product, exactPowers[maxPlaces-int(r.scale)])}
}

// ExactOf returns minor as an Exact.
func ExactOf(minor int64) Exact { return one.Times(minor) }

// ParseExact parses what String returns. Any other text is ErrInvalidRate.
func ParseExact(text string) (Exact, error) {
	whole, decimals, _ := strings.Cut(text, ".")
	if len(decimals) <= maxPlaces {
		scaled, ok := new(big.Int).SetString(whole+decimals+strings.Repeat("0", maxPlaces-len(decimals)), 10)
		if e := (Exact{scaled: scaled}); ok && e.String() == text {
			return e, nil
		}
	}
	return Exact{}, fmt.Errorf("%w: %.80q is not a plain decimal", ErrInvalidRate, text)
}

// Add returns e + other.
func (e Exact) Add(other Exact) Exact {
	return Exact{scaled: new(big.Int).Add(e.big(), other.big())}
}

// Sub returns e - other.
func (e Exact) Sub(other Exact) Exact {
	return Exact{scaled: new(big.Int).Sub(e.big(), other.big())}
}

// IsZero reports whether the number is 0.
func (e Exact) IsZero() bool { return e.big().Sign() == 0 }

// Equal reports whether e and other are the same number.
func (e Exact) Equal(other Exact) bool { return e.big().Cmp(other.big()) == 0 }

// Round returns the number in whole units, rounded half to even. Error: ErrOverflow.
func (e Exact) Round() (int64, error) {
	floor, rest := new(big.Int).DivMod(e.big(), exactUnit, new(big.Int))
	if c := rest.Lsh(rest, 1).Cmp(exactUnit); c > 0 || c == 0 && floor.Bit(0) == 1 {
		floor.Add(floor, big.NewInt(1))
	}
	if !floor.IsInt64() {
		return 0, fmt.Errorf("%w: %s", ErrOverflow, e)
	}
	return floor.Int64(), nil
}

// String returns the number in plain digits, without trailing zeros: "-0.25", "3".
func (e Exact) String() string {
	digits := new(big.Int).Abs(e.big()).String()
	if missing := maxPlaces + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - maxPlaces
	text := strings.TrimRight(strings.TrimRight(digits[:point]+"."+digits[point:], "0"), ".")
	if e.big().Sign() < 0 {
		return "-" + text
	}
	return text
}

func (e Exact) big() *big.Int {
	if e.scaled == nil {
		return new(big.Int)
	}
	return e.scaled
}
