package account

import (
	"crypto/sha256"
	"slices"
	"strings"
)

// The first part of SegWit addresses, and the first byte of the older ones, on the main and the test networks.
// Which network is meant is checked by the rail.
var (
	segwitPrefixes = []string{"bc", "tb", "bcrt"}
	base58Versions = []byte{0x00, 0x05, 0x6f, 0xc4}
)

const notBitcoinAddress = "must be a Bitcoin address, such as bc1…, 1… or 3…"

// checkBitcoinAddress checks a SegWit address (BIP 173 and 350), or an older one in base58, with its checksum.
func checkBitcoinAddress(address string) string {
	lower := strings.ToLower(address)
	prefix, data, found := strings.Cut(lower, "1")
	if !found || !slices.Contains(segwitPrefixes, prefix) {
		return checkBase58Bitcoin(address)
	}
	if lower != address && strings.ToUpper(address) != address {
		return "must not mix upper and lower case letters"
	}
	return checkSegwit(prefix, data)
}

func checkBase58Bitcoin(address string) string {
	const length, checksum = 25, 4
	if len(address) < 26 || len(address) > 35 {
		return notBitcoinAddress
	}
	number := decodeBase58(address)
	if number == nil {
		return notBitcoinAddress
	}
	zeros := len(address) - len(strings.TrimLeft(address, "1")) // each 1 in front stands for a zero byte
	bytes := append(make([]byte, zeros), number...)
	if len(bytes) != length || !slices.Contains(base58Versions, bytes[0]) {
		return notBitcoinAddress
	}
	hash := sha256.Sum256(bytes[:length-checksum])
	hash = sha256.Sum256(hash[:])
	if string(hash[:checksum]) != string(bytes[length-checksum:]) {
		return wrongCheckDigits
	}
	return ""
}

// checkSegwit checks the part after the prefix: a version, the program in groups of five bits, and six characters of checksum.
func checkSegwit(prefix, data string) string {
	const letters, checksum, longest = "qpzry9x8gf2tvdw0s3jn54khce6mua7l", 6, 80
	if len(data) < checksum+2 || len(data) > longest {
		return notBitcoinAddress
	}
	groups := make([]byte, len(data))
	for i := range data {
		group := strings.IndexByte(letters, data[i])
		if group < 0 {
			return notBitcoinAddress
		}
		groups[i] = byte(group)
	}
	const bech32, bech32m = 1, 0x2bc830a3
	wanted := uint32(bech32m)
	if groups[0] == 0 {
		wanted = bech32
	}
	if bech32Checksum(prefix, groups) != wanted {
		return wrongCheckDigits
	}
	if !segwitProgram(groups[0], groups[1:len(groups)-checksum]) {
		return notBitcoinAddress
	}
	return ""
}

// segwitProgram reports whether a version may have a program, given in groups of five bits.
func segwitProgram(version byte, groups []byte) bool {
	const maxVersion, shortest, longest = 16, 2, 40
	bits := len(groups) * 5
	length, padding := bits/8, bits%8
	if version > maxVersion || length < shortest || length > longest || padding > 4 || version == 0 && length != 20 && length != 32 {
		return false
	}
	return groups[len(groups)-1]&(1<<padding-1) == 0 // the padding is zero
}

// bech32Checksum is the checksum of BIP 173 over a prefix and groups of five bits.
func bech32Checksum(prefix string, groups []byte) uint32 {
	values := make([]byte, 0, 2*len(prefix)+1+len(groups))
	for i := range prefix {
		values = append(values, prefix[i]>>5)
	}
	values = append(values, 0)
	for i := range prefix {
		values = append(values, prefix[i]&31)
	}
	sum := uint32(1)
	for _, value := range append(values, groups...) {
		top := sum >> 25
		sum = (sum&0x1ffffff)<<5 ^ uint32(value)
		for i, factor := range [...]uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
			if top>>i&1 == 1 {
				sum ^= factor
			}
		}
	}
	return sum
}
