package evm

import (
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func FuzzDecodeReplies(f *testing.F) {
	for _, reply := range []string{`[{"id":1,"result":"0x1"},{"id":2,"result":{"number":"0x1","hash":"0x00","timestamp":"0x2"}}]`,
		`{"error":{"code":-32005,"message":"x"}}`,
		`[{"id":2,"result":null},{"id":1,"error":{"code":3,"message":"execution reverted"}}]`, `[]`, `{`, `[{"id":1,"result":"0x"}]`} {
		f.Add([]byte(reply))
	}
	type results struct {
		number hexUint
		latest *block
	}
	decode := func(content []byte, r results) (results, []error) {
		requests := []*request{{Method: "a", Result: &r.number}, {Method: "b", Result: &r.latest}}
		err := decodeReplies(content, requests)
		return r, []error{err, requests[0].Err, requests[1].Err}
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		// Whatever a node answers, every request has a result or an error, or the whole answer is refused; nothing is left
		// of what another node has answered before.
		got, errs := decode(content, results{})
		again, errsAgain := decode(content, results{99, &block{Number: 99, BaseFee: new(hexBig)}})
		if (errs[0] == nil) != (errsAgain[0] == nil) {
			t.Fatalf("%v, then %v", errs, errsAgain)
		}
		if errs[0] != nil {
			return
		}
		if errs[1] == nil && got.number != again.number || errs[2] == nil && !reflect.DeepEqual(got.latest, again.latest) {
			t.Errorf("%s is %+v, then %+v", content, got, again)
		}
	})
}

func FuzzQuantities(f *testing.F) {
	for _, text := range []string{`"0x0"`, `"0xffffffffffffffff"`, `"0x10000000000000000"`, `"0x"`, `"-0x1"`, `"0x-1"`, `"0x+1"`, `"0x_1"`,
		`12`, `null`, `"0x1.5"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		// A quantity is a number of hexadecimal digits after 0x, and nothing else; both types read the same.
		var small hexUint
		var large hexBig
		smallErr, largeErr := json.Unmarshal(data, &small), json.Unmarshal(data, &large)
		if largeErr == nil && (large.Sign() < 0 || large.BitLen() > 256) {
			t.Errorf("%s is %s", data, large.String())
		}
		if smallErr == nil && (largeErr != nil || large.Cmp(new(big.Int).SetUint64(uint64(small))) != 0) {
			t.Errorf("%s is %d and %s, %v", data, small, large.String(), largeErr)
		}
		var text string
		if largeErr == nil && (json.Unmarshal(data, &text) != nil || strings.Trim(strings.ToLower(text), "0123456789abcdefx") != "") {
			t.Errorf("%s is read as %s", data, large.String())
		}
	})
}

func TestFees_ReplacementsAreTakenAndBounded(t *testing.T) {
	t.Parallel()
	// However the market moves, a transaction never offers more than the maximum, and each version at least a tenth more
	// than the one before in both parts, as nodes demand; a version that is not affordable is not made.
	rapid.Check(t, func(t *rapid.T) {
		wei := rapid.Int64Range(0, 1_000_000_000_000)
		maximum := big.NewInt(rapid.Int64Range(1, 2_000_000_000_000).Draw(t, "maximum"))
		market := func() price {
			return price{base: big.NewInt(wei.Draw(t, "base")), tip: big.NewInt(max(wei.Draw(t, "tip"), 1))}
		}
		present, ok := market().offer(maximum)
		if !ok {
			return
		}
		for range rapid.IntRange(0, 30).Draw(t, "versions") {
			if present.maxFee.Cmp(maximum) > 0 || present.tip.Cmp(present.maxFee) > 0 {
				t.Fatalf("offers %s with a tip of %s, at most %s", present.maxFee, present.tip, maximum)
			}
			m := market()
			next, ok := m.replacement(present, maximum)
			if !ok {
				continue
			}
			for _, part := range [][2]*big.Int{{present.maxFee, next.maxFee}, {present.tip, next.tip}} {
				least := new(big.Int).Mul(part[0], big.NewInt(11))
				if new(big.Int).Mul(part[1], big.NewInt(10)).Cmp(least) < 0 {
					t.Fatalf("replaces %s by %s", part[0], part[1])
				}
			}
			if next.maxFee.Cmp(m.now()) < 0 {
				t.Fatalf("offers %s, and the next block costs %s", next.maxFee, m.now())
			}
			present = next
		}
	})
}
