package ethereum_test

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"testing"

	"causeway/core/ethereum"
)

// rlpItem reads one item of RLP as the Yellow Paper defines it, and fails on anything that is not the shortest form.
func rlpItem(t *testing.T, b []byte) (content []byte, isList bool, rest []byte) {
	t.Helper()
	if len(b) == 0 {
		t.Fatal("the encoding ends early")
	}
	first := b[0]
	if first < 0x80 {
		return b[:1], false, b[1:]
	}
	offset := byte(0x80)
	if isList = first >= 0xc0; isList {
		offset = 0xc0
	}
	length := uint64(first - offset)
	header := 1
	if length > 55 {
		size := int(length - 55)
		var wide [8]byte
		copy(wide[8-size:], b[1:1+size])
		length, header = binary.BigEndian.Uint64(wide[:]), 1+size
		if length <= 55 || b[1] == 0 {
			t.Fatalf("%x is not the shortest header", b[:header])
		}
	}
	content, rest = b[header:header+int(length)], b[header+int(length):]
	if !isList && len(content) == 1 && content[0] < 0x80 {
		t.Fatalf("%x is not the shortest form", b[:2])
	}
	return content, isList, rest
}

func FuzzTransaction_SignedIsRLP(f *testing.F) {
	f.Add(uint64(1), uint64(0), []byte{}, []byte{1}, uint64(21_000), []byte{}, make([]byte, 68), byte(1))
	f.Add(uint64(137), uint64(1<<40), bytes.Repeat([]byte{0xff}, 32), []byte{0, 0, 7}, uint64(127), []byte{0x80}, make([]byte, 256), byte(0))
	f.Fuzz(func(t *testing.T, chain, nonce uint64, tip, maxFee []byte, gas uint64, value, data []byte, recovery byte) {
		// What is sent decodes to exactly the fields of the transaction, in the shortest form, and has the hash of its bytes.
		tx := ethereum.Transaction{ChainID: chain, Nonce: nonce, MaxPriorityFee: new(big.Int).SetBytes(tip),
			MaxFee: new(big.Int).SetBytes(maxFee), GasLimit: gas,
			To: ethereum.Address{1, 2, 3}, Value: new(big.Int).SetBytes(value), Data: data}
		r, s := ethereum.Hash{0, 9}, ethereum.Hash{31: 5}
		raw, hash := tx.Signed(recovery&1, r, s)
		if raw[0] != 2 || hash != ethereum.Keccak256(raw) {
			t.Fatalf("%x has the hash %x", raw, hash)
		}
		fields, isList, rest := rlpItem(t, raw[1:])
		if !isList || len(rest) != 0 {
			t.Fatalf("%x is not one list", raw)
		}
		number := func(want *big.Int) {
			content, isList, after := rlpItem(t, fields)
			if isList || len(content) > 0 && content[0] == 0 || new(big.Int).SetBytes(content).Cmp(want) != 0 {
				t.Fatalf("%x, want %s", content, want)
			}
			fields = after
		}
		text := func(want []byte) {
			content, isList, after := rlpItem(t, fields)
			if isList || !bytes.Equal(content, want) {
				t.Fatalf("%x, want %x", content, want)
			}
			fields = after
		}
		unsigned := func(n uint64) *big.Int { return new(big.Int).SetUint64(n) }
		number(unsigned(chain))
		number(unsigned(nonce))
		number(tx.MaxPriorityFee)
		number(tx.MaxFee)
		number(unsigned(gas))
		text(tx.To[:])
		number(tx.Value)
		text(data)
		access, isList, after := rlpItem(t, fields)
		if !isList || len(access) != 0 {
			t.Fatalf("access list %x", access)
		}
		fields = after
		number(unsigned(uint64(recovery & 1)))
		number(new(big.Int).SetBytes(r[:]))
		number(new(big.Int).SetBytes(s[:]))
		if len(fields) != 0 {
			t.Fatalf("%x is too much", fields)
		}
	})
}

func FuzzAddress(f *testing.F) {
	f.Add("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")
	f.Add("0xde709f2102306220921060314715629080e2fb77")
	f.Add("0X5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED")
	f.Fuzz(func(t *testing.T, text string) {
		// Whatever is parsed as an address is one, and its text with the checksum is the same address.
		a, err := ethereum.ParseAddress(text)
		if err != nil {
			if a != (ethereum.Address{}) {
				t.Errorf("%q is refused as %x", text, a)
			}
			return
		}
		again, err := ethereum.ParseAddress(ethereum.FormatAddress(a))
		if err != nil || again != a || !bytes.EqualFold([]byte(text), []byte(ethereum.FormatAddress(a))) {
			t.Errorf("%q is %x, and then %x, %v", text, a, again, err)
		}
	})
}
