package account

import (
	"errors"

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
