package uma

import (
	"fmt"
	"strings"
	"time"
)

const (
	// MaxAge is how old a signed message may be, and MaxAhead how far the clock of its sender may be ahead.
	MaxAge   = 5 * time.Minute
	MaxAhead = time.Minute
	// MaxNonce is the longest nonce, in bytes.
	MaxNonce = 128
)

// Stamp is what makes a signed message unique: no two of a provider have the same nonce while they are fresh.
type Stamp struct {
	Nonce string
	// Seconds is the time of the message, in seconds since 1970.
	Seconds int64
}

// Check returns an error unless the message is fresh.
func (s Stamp) Check(now time.Time) error {
	// Compared as numbers: a time may be too far away for a time.Time.
	switch seconds := now.Unix(); {
	case s.Nonce == "" || len(s.Nonce) > MaxNonce || strings.Contains(s.Nonce, "|"): // which separates the parts of what is signed
		return refuse(InvalidNonce, "signatureNonce must have 1 to 128 bytes and no |")
	case s.Seconds < seconds-int64(MaxAge/time.Second):
		return refuse(InvalidTimestamp, fmt.Sprintf("signatureTimestamp must not be more than %d seconds ago", MaxAge/time.Second))
	case s.Seconds > seconds+int64(MaxAhead/time.Second):
		return refuse(InvalidTimestamp, fmt.Sprintf("signatureTimestamp must not be more than %d seconds ahead", MaxAhead/time.Second))
	}
	return nil
}

// NonceUntil returns until when the nonce of a fresh message must be kept: a repeated message is too old then.
func (s Stamp) NonceUntil() time.Time { return time.Unix(s.Seconds, 0).Add(MaxAge + MaxAhead) }
