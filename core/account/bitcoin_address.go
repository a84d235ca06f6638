package account

import (
	"errors"
	"strings"

	"causeway/core/bitcoin"
)

// checkBitcoinAddress checks a SegWit address, or an older one in base58, with its checksum. Which network is meant is
// checked by the rail.
func checkBitcoinAddress(address string) string {
	_, err := bitcoin.ParseAddress(address)
	switch {
	case errors.Is(err, bitcoin.ErrMixedCase):
		return "must not mix upper and lower case letters"
	case errors.Is(err, bitcoin.ErrChecksum):
		return wrongCheckDigits
	case err != nil:
		return "must be a Bitcoin address, such as bc1…, 1… or 3…"
	}
	return ""
}

// bitcoinSpelling returns a SegWit address in lower case, as nearly all are written. In others the case of a letter matters.
func bitcoinSpelling(address string) string {
	if parsed, err := bitcoin.ParseAddress(address); err == nil && parsed.Prefix != "" {
		return strings.ToLower(address)
	}
	return address
}
