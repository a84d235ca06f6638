package price_test

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/money"
	"causeway/core/price"
)

// The properties are checked with math/big, never with this package's own arithmetic.
// PRICE_CASES is the number of random prices of each side in the sweep, RAPID_CHECKS the
// number of cases of each property.

func TestPrice_Invariants(t *testing.T) {
	t.Parallel()
	// For random rates, fees and amounts, on both sides, every price satisfies its equations
	// and every error is justified.
	rapid.Check(t, func(t *rapid.T) {
		c := anyCase().Draw(t, "case")
		if fault := c.verify(); fault != nil {
			t.Fatal(fault)
		}
	})
}

func TestPrice_Check(t *testing.T) {
	t.Parallel()
	// A price passes the check, and none that differs in one amount.
	rapid.Check(t, func(t *rapid.T) {
		c := anyCase().Draw(t, "case")
		for _, calculate := range []func() (price.Price, error){c.send, c.receive} {
			p, err := calculate()
			if err != nil {
				continue
			}
			if err := p.Check(c.fee.Percent); err != nil {
				t.Fatalf("%s: %v", c, err)
			}
			for name, change := range map[string]func(*price.Price){
				"fees": func(p *price.Price) { p.Fees++ }, "fixed fee": func(p *price.Price) { p.FixedFee++ },
				"variable fee": func(p *price.Price) { p.VariableFee++ },
				"receiving":    func(p *price.Price) { p.Receiving++ }, "rounding": func(p *price.Price) { p.RoundingReceiving++ },
			} {
				changed := p
				change(&changed)
				if changed.Check(c.fee.Percent) == nil {
					t.Errorf("%s: a change of %s is not found", c, name)
				}
			}
		}
	})
}

func TestPrice_InvariantsSweep(t *testing.T) {
	t.Parallel()
	// The same properties for many more random cases, of which at least a third have a price.
	cases := 50_000
	if text := os.Getenv("PRICE_CASES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("PRICE_CASES: %v", err)
		}
		cases = n
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))

	priced := 0
	for n := range cases {
		c := randomCase(random)
		if fault := c.verify(); fault != nil {
			t.Fatalf("seed %d, case %d: %v", seed, n, fault)
		}
		if _, err := c.receive(); err == nil {
			priced++
		}
	}
	t.Logf("%d cases on each side, %d of them priced as receiving", cases, priced)
	if priced < cases/3 {
		t.Errorf("only %d of %d cases have a price, want at least a third", priced, cases)
	}
}

func TestPrice_RoundTrip(t *testing.T) {
	t.Parallel()
	// The amount that a payment yields never costs more than the payment, and paying that
	// cost yields the amount again.
	rapid.Check(t, func(t *rapid.T) {
		c := anyCase().Draw(t, "case")
		bought, err := c.send()
		if err != nil {
			t.Skip("no price")
		}

		cost, err := price.Receiving(bought.Receiving, c.market, c.fee)
		if err != nil || cost.Sending > c.amount {
			t.Fatalf("%s: %d received for %d, but it costs %d, %v", c, bought.Receiving, c.amount, cost.Sending, err)
		}
		again, err := price.Sending(cost.Sending, c.market, c.fee)
		if err != nil || again.Receiving != bought.Receiving || again.Receiving != cost.ConvertedReceiving() {
			t.Fatalf("%s: paying the cost %d yields %d, %v; want %d", c, cost.Sending, again.Receiving, err, bought.Receiving)
		}
	})
}

func TestPrice_IsMonotonic(t *testing.T) {
	t.Parallel()
	// For each further unit, the fee grows by zero or one, a payment yields at least as much, and a
	// wanted amount costs at least as much.
	rapid.Check(t, func(t *rapid.T) {
		c := anyCase().Draw(t, "case")
		c.amount = min(c.amount, money.MaxMinor-50)

		var fee, bought, cost int64
		for step := range int64(50) {
			amount := c.amount + step
			nextFee, err := c.fee.AmountFor(amount)
			if err != nil {
				t.Fatal(err)
			}
			if grown := nextFee - fee; step > 0 && (grown < 0 || grown > 1) {
				t.Fatalf("%s: the fee on %d is %d, on one unit less %d", c, amount, nextFee, fee)
			}
			fee = nextFee

			if p, err := price.Sending(amount, c.market, c.fee); err == nil {
				if p.Receiving < bought || p.Fees != fee {
					t.Fatalf("%s: %d yields %d with fees of %d, one unit less yields %d", c, amount, p.Receiving, p.Fees, bought)
				}
				bought = p.Receiving
			}
			if p, err := price.Receiving(amount, c.market, c.fee); err == nil {
				if p.Sending < cost {
					t.Fatalf("%s: %d costs %d, one unit less costs %d", c, amount, p.Sending, cost)
				}
				cost = p.Sending
			}
		}
	})
}

// priceCase is one case: an amount that is used as the sent and as the wanted one.
type priceCase struct {
	amount int64
	market money.Rate
	fee    price.Fee
}

func (c priceCase) String() string {
	return fmt.Sprintf("amount %d, market %s, fee %d + %s", c.amount, c.market, c.fee.Fixed, c.fee.Percent)
}

func (c priceCase) send() (price.Price, error)    { return price.Sending(c.amount, c.market, c.fee) }
func (c priceCase) receive() (price.Price, error) { return price.Receiving(c.amount, c.market, c.fee) }

// verify computes both prices and returns the first violated property.
func (c priceCase) verify() error {
	market, percent := rat(c.market), rat(c.fee.Percent)

	sent, err := c.send()
	if err != nil {
		if fault := c.checkSendingRefusal(market, percent); fault != nil {
			return fmt.Errorf("%s: refused with %w: %w", c, err, fault)
		}
	} else {
		fault := checkInvariants(sent, c, market, percent)
		switch {
		case fault != nil:
		case sent.Sending != c.amount:
			fault = errors.New("the sending amount is not the given amount")
		case sent.Rate != c.market || sent.RoundingReceiving != 0:
			fault = errors.New("the market's rate is not given on")
		}
		if fault != nil {
			return fmt.Errorf("%s: sending %+v at %s: %w", c, sent, sent.Rate, fault)
		}
	}

	received, err := c.receive()
	if err != nil {
		if fault := c.checkReceivingRefusal(market, percent); fault != nil {
			return fmt.Errorf("%s: refused with %w: %w", c, err, fault)
		}
		return nil
	}
	fault := checkInvariants(received, c, market, percent)
	switch {
	case fault != nil:
	case received.Receiving != c.amount:
		fault = errors.New("something else arrives")
	case received.RoundingSending != 0:
		fault = errors.New("sending units are left over although the total is the smallest")
	case (received.Rate == c.market) != (received.RoundingReceiving == 0):
		fault = errors.New("the rate differs from the market's without need, or does not although it must")
	case received.Rate.Cmp(c.market) > 0:
		fault = errors.New("the rate is better than the market's")
	case received.RoundingReceiving != 0 && new(big.Rat).SetInt64(received.RoundingReceiving).Cmp(market) >= 0:
		fault = errors.New("the service keeps more than one sending unit buys")
	case received.Sending > 1 && receivingFor(received.Sending-1, c.fee, market, percent).Cmp(big.NewInt(c.amount)) >= 0:
		fault = errors.New("one unit less would do")
	case receivingFor(received.Sending, c.fee, market, percent).Cmp(big.NewInt(c.amount)) < 0:
		fault = errors.New("the total does not yield what arrives")
	}
	if fault != nil {
		return fmt.Errorf("%s: receiving %+v at %s: %w", c, received, received.Rate, fault)
	}
	return nil
}

// checkInvariants checks the properties of every price, from either side.
func checkInvariants(p price.Price, c priceCase, market, percent *big.Rat) error {
	net := p.Sending - p.Fees
	switch {
	case p.Sending < 1 || p.Sending > money.MaxMinor || p.Receiving < 1 || p.Receiving > money.MaxMinor:
		return errors.New("an amount is out of range")
	case p.Fees < 0 || net < 1 || p.RoundingSending < 0 || p.RoundingReceiving < 0 || p.ConvertedSending() < 1:
		return errors.New("a part is negative")
	case p.Market != c.market:
		return errors.New("the market's rate is lost")
	case p.FixedFee != c.fee.Fixed || p.FixedFee+p.VariableFee != p.Fees:
		return errors.New("the fees do not add up")
	case big.NewInt(p.VariableFee).Cmp(ceil(times(percent, p.Sending))) != 0:
		return errors.New("the fee in percent is wrong")
	case floor(times(rat(p.Rate), net)).Cmp(big.NewInt(p.Receiving)) != 0:
		return errors.New("the receiving amount is not floor(net × rate)")
	case p.Fees+p.RoundingSending+p.ConvertedSending() != p.Sending:
		return errors.New("sending units appear or vanish")
	case p.Receiving+p.RoundingReceiving != p.ConvertedReceiving():
		return errors.New("receiving units appear or vanish")
	case floor(times(market, p.ConvertedSending())).Cmp(big.NewInt(p.ConvertedReceiving())) != 0:
		return errors.New("the position is not converted at the market's rate")
	case p.RoundingSending > 0 && floor(times(market, p.ConvertedSending()-1)).Cmp(big.NewInt(p.ConvertedReceiving())) >= 0:
		return errors.New("more units could be left over")
	}
	return nil
}

// checkSendingRefusal returns an error if a valid payment was refused.
func (c priceCase) checkSendingRefusal(market, percent *big.Rat) error {
	bought := receivingFor(c.amount, c.fee, market, percent)
	if bought.Sign() > 0 && bought.Cmp(big.NewInt(money.MaxMinor)) <= 0 {
		return fmt.Errorf("but it yields %s", bought)
	}
	return nil
}

// checkReceivingRefusal returns an error if a payable amount was refused. It searches for the
// smallest payment, unlike the package.
func (c priceCase) checkReceivingRefusal(market, percent *big.Rat) error {
	low, high := int64(0), money.MaxMinor+1 // low is too little, high is enough or not payable
	for high-low > 1 {
		middle := low + (high-low)/2
		if receivingFor(middle, c.fee, market, percent).Cmp(big.NewInt(c.amount)) >= 0 {
			high = middle
		} else {
			low = middle
		}
	}
	if high > money.MaxMinor {
		return nil
	}
	surplus := new(big.Int).Sub(receivingFor(high, c.fee, market, percent), big.NewInt(c.amount))
	if surplus.Cmp(big.NewInt(money.MaxMinor)) > 0 {
		return nil
	}
	return fmt.Errorf("but paying %d is enough", high)
}

// receivingFor returns what a total yields at the market rate; or zero if nothing is left after the fee.
func receivingFor(total int64, fee price.Fee, market, percent *big.Rat) *big.Int {
	net := new(big.Int).Sub(big.NewInt(total), big.NewInt(fee.Fixed))
	net.Sub(net, ceil(times(percent, total)))
	if net.Sign() <= 0 {
		return new(big.Int)
	}
	return floor(new(big.Rat).Mul(new(big.Rat).SetInt(net), market))
}

// anyCase draws cases that shrink well; half of them are like common payments.
func anyCase() *rapid.Generator[priceCase] {
	return rapid.Custom(func(t *rapid.T) priceCase {
		return randomCase(rapidSource{t})
	})
}

// source returns the random numbers of a case, from 0 to n-1.
type source interface{ Int64N(n int64) int64 }

type rapidSource struct{ t *rapid.T }

func (s rapidSource) Int64N(n int64) int64 { return rapid.Int64Range(0, n-1).Draw(s.t, "n") }

// randomCase returns amounts of all sizes up to the largest, rates from 10^-18 to
// 10^18 with 1 to 34 digits, and fees from zero to the full amount.
func randomCase(from source) priceCase {
	c := priceCase{amount: 1 + magnitude(from, 16)}
	if from.Int64N(50) == 0 {
		c.amount = money.MaxMinor - from.Int64N(1000)
	}

	digits := 1 + from.Int64N(9)
	if from.Int64N(4) == 0 {
		digits = 1 + from.Int64N(34)
	}
	exponent := from.Int64N(10) - 5
	if from.Int64N(4) == 0 {
		exponent = from.Int64N(36) - 18
	}
	c.market = number(from, digits, exponent)

	if from.Int64N(3) > 0 {
		c.fee.Fixed = magnitude(from, 4)
	}
	if from.Int64N(20) == 0 {
		c.fee.Fixed = magnitude(from, 19)
	}
	switch from.Int64N(8) {
	case 0, 1: // no percentage
	case 2:
		c.fee.Percent = number(from, 1+from.Int64N(18), -1-from.Int64N(16)) // up to 34 places
	case 3:
		c.fee.Percent = number(from, 1+from.Int64N(6), -1) // most of it
	case 4:
		if from.Int64N(10) == 0 {
			c.fee.Percent = money.MustFraction("1")
		}
	default:
		c.fee.Percent = number(from, 1+from.Int64N(3), -2-from.Int64N(3)) // as in real fee tables
	}
	return c
}

// magnitude returns a number with 0 to digits digits, each length as likely, below MaxMinor.
func magnitude(from source, digits int64) int64 {
	limit := int64(1)
	for range from.Int64N(digits + 1) {
		if limit > money.MaxMinor/10 {
			return from.Int64N(money.MaxMinor)
		}
		limit *= 10
	}
	return from.Int64N(limit)
}

// number returns a random number whose first digit has the place value 10^exponent.
func number(from source, digits, exponent int64) money.Rate {
	text := []byte{byte('1' + from.Int64N(9))}
	for range digits - 1 {
		text = append(text, byte('0'+from.Int64N(10)))
	}
	return money.MustRate(fmt.Sprintf("%se%d", text, exponent-(digits-1)))
}

func times(r *big.Rat, n int64) *big.Rat { return new(big.Rat).Mul(r, new(big.Rat).SetInt64(n)) }

func rat(r money.Rate) *big.Rat {
	n, ok := new(big.Rat).SetString(r.String())
	if !ok {
		panic("not a number: " + r.String())
	}
	return n
}

func floor(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }

func ceil(r *big.Rat) *big.Int {
	n := new(big.Int).Add(r.Num(), r.Denom())
	return n.Sub(n, big.NewInt(1)).Div(n, r.Denom())
}
