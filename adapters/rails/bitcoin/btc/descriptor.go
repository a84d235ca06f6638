package btc

import "strings"

const (
	checksumLetters   = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	descriptorLetters = "0123456789()[],'/*abcdefgh@:$%{}" +
		"IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~" +
		"ijklmnopqrstuvwxyzABCDEFGH`#\"\\ "
)

func descriptorStep(sum uint64, value uint64) uint64 {
	top := sum >> 35
	sum = sum&0x7ffffffff<<5 ^ value
	for i, generator := range []uint64{0xf5dee51989, 0xa9fdca3312, 0x1bab10e32d, 0x3706b1677a, 0x644d626ffd} {
		if top>>i&1 == 1 {
			sum ^= generator
		}
	}
	return sum
}

// WithChecksum returns an output descriptor with its checksum (BIP 380).
func WithChecksum(descriptor string) string {
	sum, class, classes := uint64(1), uint64(0), 0
	for _, letter := range descriptor {
		position := uint64(max(strings.IndexRune(descriptorLetters, letter), 0))
		sum = descriptorStep(sum, position&31)
		class = class*3 + position>>5
		if classes++; classes == 3 {
			sum, class, classes = descriptorStep(sum, class), 0, 0
		}
	}
	if classes > 0 {
		sum = descriptorStep(sum, class)
	}
	for range 8 {
		sum = descriptorStep(sum, 0)
	}
	sum ^= 1
	text := []byte(descriptor + "#")
	for i := range 8 {
		text = append(text, checksumLetters[sum>>(5*(7-i))&31])
	}
	return string(text)
}
