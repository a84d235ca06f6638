package btc

import (
	"errors"
	"strings"
)

const (
	bech32Letters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	// bech32Constant and bech32mConstant are what the checksums of BIP 173 and BIP 350 come to.
	bech32Constant  = 1
	bech32mConstant = 0x2bc830a3
)

var errSegWit = errors.New("is not a SegWit address, or has a wrong letter")

func bech32Checksum(values []byte) uint32 {
	sum := uint32(1)
	for _, v := range values {
		top := sum >> 25
		sum = sum&0x1ffffff<<5 ^ uint32(v)
		for i, generator := range []uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
			if top>>i&1 == 1 {
				sum ^= generator
			}
		}
	}
	return sum
}

// expandPrefix returns the letters of a prefix as the checksum covers them.
func expandPrefix(prefix string) []byte {
	var values []byte
	for i := range len(prefix) {
		values = append(values, prefix[i]>>5)
	}
	values = append(values, 0)
	for i := range len(prefix) {
		values = append(values, prefix[i]&31)
	}
	return values
}

// regroup changes the number of bits in each value. Bits that are left over are filled with zeros, or must be zeros.
func regroup(values []byte, from, to uint, fill bool) ([]byte, bool) {
	var out []byte
	var buffer, bits uint
	for _, v := range values {
		buffer, bits = (buffer<<from|uint(v))&0xffff, bits+from
		for bits >= to {
			bits -= to
			out = append(out, byte(buffer>>bits&(1<<to-1)))
		}
	}
	rest := buffer & (1<<bits - 1)
	if fill {
		if bits > 0 {
			out = append(out, byte(rest<<(to-bits)))
		}
		return out, true
	}
	return out, bits < from && rest == 0
}

// decodeSegWit returns the version and the program of a SegWit address with a prefix (BIP 173 and BIP 350).
func decodeSegWit(prefix, address string) (version byte, program []byte, err error) {
	lower := strings.ToLower(address)
	if lower != address && strings.ToUpper(address) != address || len(address) > 90 || !strings.HasPrefix(lower, prefix+"1") {
		return 0, nil, errSegWit
	}
	var values []byte
	for _, letter := range lower[len(prefix)+1:] {
		i := strings.IndexRune(bech32Letters, letter)
		if i < 0 {
			return 0, nil, errSegWit
		}
		values = append(values, byte(i))
	}
	if len(values) < 8 {
		return 0, nil, errSegWit
	}
	version = values[0]
	want := uint32(bech32mConstant)
	if version == 0 {
		want = bech32Constant
	}
	program, whole := regroup(values[1:len(values)-6], 5, 8, false)
	ok := whole && bech32Checksum(append(expandPrefix(prefix), values...)) == want && version <= 16 && len(program) >= 2 && len(program) <= 40
	if !ok || version == 0 && len(program) != 20 && len(program) != 32 {
		return 0, nil, errSegWit
	}
	return version, program, nil
}

// encodeSegWit returns the address of a program of version 0.
func encodeSegWit(prefix string, program []byte) string {
	data, _ := regroup(program, 8, 5, true)
	values := append([]byte{0}, data...)
	sum := bech32Checksum(append(append(expandPrefix(prefix), values...), 0, 0, 0, 0, 0, 0)) ^ bech32Constant
	for i := range 6 {
		values = append(values, byte(sum>>(5*(5-i))&31))
	}
	text := []byte(prefix + "1")
	for _, v := range values {
		text = append(text, bech32Letters[v])
	}
	return string(text)
}
