// Package signin hashes passwords with argon2id, finds those that are easy to guess, and checks the codes of a second factor,
// time-based one-time passwords (RFC 6238) of six digits every 30 seconds. It speaks WebAuthn with browsers that have passkeys.
package signin

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"strings"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"
	"github.com/trustelem/zxcvbn"
	"github.com/trustelem/zxcvbn/frequency"
	"golang.org/x/text/unicode/norm"
)

// Verifier implements people.Verifier.
type Verifier struct{}

// parameters are those that OWASP names for argon2id with little memory: 19 MiB, two iterations, one lane.
var parameters = &argon2id.Params{Memory: 19 << 10, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// otherHash is the hash of a password that nobody knows.
const otherHash = "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// HashPassword implements people.Verifier.
func (Verifier) HashPassword(password string) (string, error) {
	return argon2id.CreateHash(normalize(password), parameters)
}

// CheckPassword implements people.Verifier.
func (Verifier) CheckPassword(hash, password string) (bool, error) {
	if hash == "" {
		_, err := argon2id.ComparePasswordAndHash(normalize(password), otherHash)
		return false, err
	}
	return argon2id.ComparePasswordAndHash(normalize(password), hash)
}

// normalize gives a password one form, whichever way a keyboard composes its letters, as NIST SP 800-63B asks.
func normalize(password string) string { return norm.NFKC.String(password) }

const (
	// leastScore is that of a password that needs 100 million guesses or more, in what zxcvbn counts from 0 to 4.
	leastScore = 3
	// maxGuessed limits the time of an estimate, which grows faster than the length.
	maxGuessed = 64
)

func init() {
	frequency.FrequencyLists = nil // 1.5 MB, which zxcvbn has made its dictionaries of and does not read again
}

// IsGuessable implements people.Verifier: by lists of common passwords, names and words, rows of keys and repetitions, as NIST SP
// 800-63B asks.
func (Verifier) IsGuessable(password string) bool {
	runes := []rune(password)
	return zxcvbn.PasswordStrength(string(runes[:min(len(runes), maxGuessed)]), []string{"causeway"}).Score < leastScore
}

var secretEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// secretLength is that of the key of HMAC-SHA-1, as RFC 4226 recommends.
const secretLength = 20

// NewTOTPSecret implements people.Verifier.
func (Verifier) NewTOTPSecret() string {
	var random [secretLength]byte
	_, _ = rand.Read(random[:]) // never fails
	return secretEncoding.EncodeToString(random[:])
}

const period = 30 * time.Second

// TOTPStep implements people.Verifier. The clock of the person may be one step off.
func (Verifier) TOTPStep(secret, code string, now time.Time) (int64, bool) {
	code = strings.ReplaceAll(strings.TrimSpace(code), " ", "")
	if decoded, err := secretEncoding.DecodeString(secret); err != nil || len(decoded) != secretLength {
		return 0, false
	}
	options := totp.ValidateOpts{Period: uint(period / time.Second), Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1}
	for _, shift := range []time.Duration{0, -period, period} {
		at := now.Add(shift)
		want, err := totp.GenerateCodeCustom(secret, at, options)
		if err == nil && subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			return at.Unix() / int64(period/time.Second), true
		}
	}
	return 0, false
}
