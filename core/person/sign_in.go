package person

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/base64"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"causeway/core/fault"
	"causeway/core/ident"
)

// Factors are what a person proves with that it is the one.
type Factors struct {
	Person ident.Person
	// PasswordHash is the argon2id hash of the password, in the PHC string format.
	PasswordHash string
	// TOTPSecret is the secret of the second factor (RFC 6238), in base32.
	TOTPSecret string
	// TOTPStep is the step of time of the last code that was accepted. No code of it, or before it, is accepted again.
	TOTPStep int64
	// RecoveryCodes are those that were not used yet.
	RecoveryCodes []string
	// WrongCodes counts the wrong codes of the second factor since WrongSince, see CountWrongCode.
	WrongCodes int
	WrongSince time.Time
	UpdatedAt  time.Time
}

const (
	// MaxWrongCodes is how many codes may be wrong within WrongCodesWindow: who knows the password guesses one of them right once in 6,000
	// times.
	MaxWrongCodes    = 50
	WrongCodesWindow = 30 * 24 * time.Hour
)

// CountWrongCode returns the factors after a wrong code, and whether it was the last one: then no code of the second factor is accepted
// for the rest of the window. Right ones in between do not count back, because the owner of an account may sign in while another guesses.
func (f Factors) CountWrongCode(now time.Time) (counted Factors, isLast bool) {
	if f.WrongSince.IsZero() || now.Sub(f.WrongSince) >= WrongCodesWindow {
		f.WrongCodes, f.WrongSince = 0, now
	}
	f.WrongCodes++
	f.UpdatedAt = now
	return f, f.WrongCodes == MaxWrongCodes
}

// AcceptsCodes reports whether codes of the second factor are accepted: not after too many wrong ones. A recovery code, or a new link,
// ends that.
func (f Factors) AcceptsCodes(now time.Time) bool {
	return f.WrongCodes < MaxWrongCodes || now.Sub(f.WrongSince) >= WrongCodesWindow
}

// UseRecoveryCode returns the factors without a recovery code, and whether there was one of this text.
func (f Factors) UseRecoveryCode(text string, now time.Time) (Factors, bool) {
	text = NormalizeRecoveryCode(text)
	var left []string
	used := false
	for _, code := range f.RecoveryCodes {
		if subtle.ConstantTimeCompare([]byte(code), []byte(text)) == 1 {
			used = true
			continue
		}
		left = append(left, code)
	}
	if used {
		f.RecoveryCodes, f.UpdatedAt = left, now
		f.WrongCodes, f.WrongSince = 0, time.Time{}
	}
	return f, used
}

// UseTOTPStep returns the factors after a code of a step of time was accepted, and whether it may be: each counts once.
func (f Factors) UseTOTPStep(step int64, now time.Time) (Factors, bool) {
	if step <= f.TOTPStep {
		return f, false
	}
	f.TOTPStep, f.UpdatedAt = step, now
	return f, true
}

const (
	// RecoveryCodes is the number of recovery codes of a person.
	RecoveryCodes = 10
	// recoveryRandom is the number of random bytes of a code: 80 bits, which nobody tries out.
	recoveryRandom = 10
)

var recoveryEncoding = base32.NewEncoding("ABCDEFGHJKLMNPQRSTUVWXYZ23456789").WithPadding(base32.NoPadding)

// NewRecoveryCodes returns the recovery codes that are made of random bytes.
func NewRecoveryCodes(random [RecoveryCodes * recoveryRandom]byte) []string {
	codes := make([]string, RecoveryCodes)
	for i := range codes {
		codes[i] = recoveryEncoding.EncodeToString(random[i*recoveryRandom : (i+1)*recoveryRandom])
	}
	return codes
}

// GroupRecoveryCode returns a code in groups of four characters, as it is shown.
func GroupRecoveryCode(code string) string {
	var groups []string
	for ; len(code) > 4; code = code[4:] {
		groups = append(groups, code[:4])
	}
	return strings.Join(append(groups, code), "-")
}

// IsRecoveryCode reports whether a text has the length of a recovery code, and so is no code of a second factor.
func IsRecoveryCode(text string) bool {
	return len(NormalizeRecoveryCode(text)) == recoveryEncoding.EncodedLen(recoveryRandom)
}

// NormalizeRecoveryCode returns a code in the form of NewRecoveryCodes, however it was typed.
func NormalizeRecoveryCode(text string) string {
	return strings.NewReplacer("-", "", " ", "").Replace(strings.ToUpper(text))
}

const (
	// MinPassword and MaxPassword limit the length of a password, in characters. NIST SP 800-63B asks for 8 at least beside a
	// second factor, and for 64 at most to be possible.
	MinPassword = 12
	MaxPassword = 128
)

// CheckPassword returns what is wrong with a password that a person chooses; empty if nothing is.
func CheckPassword(password, email, name string) string {
	n := utf8.RuneCountInString(password)
	if !utf8.ValidString(password) || n < MinPassword || n > MaxPassword {
		return fmt.Sprintf("must have %d to %d characters; several words are easier to remember than signs", MinPassword, MaxPassword)
	}
	lower := strings.ToLower(password)
	local, _, _ := strings.Cut(strings.ToLower(email), "@")
	for _, part := range append(strings.Fields(strings.ToLower(name)), local) {
		if utf8.RuneCountInString(part) >= 4 && strings.Contains(lower, part) {
			return "must not contain your name or your e-mail address"
		}
	}
	return ""
}

// GuessablePassword is what is wrong with a password that CheckPassword accepts, and many people choose.
const GuessablePassword = "is easy to guess: it must not be a common password, a row of keys or numbers, or a repetition; several " +
	"words that have nothing to do with each other are good"

// Attempts counts the attempts that have not succeeded: to sign in with one e-mail address, also one that nobody has, or with one passkey,
// or of one person to confirm with a code.
type Attempts struct {
	Failed int
	LastAt time.Time
}

const (
	// freeAttempts is how many attempts may fail before the next one has to wait.
	freeAttempts = 5
	firstDelay   = 15 * time.Second
	maxDelay     = 15 * time.Minute
	// AttemptsRetention is how long attempts count after the last one.
	AttemptsRetention = 24 * time.Hour
)

// Wait returns how long the next attempt has to wait: twice as long after each that fails, up to 15 minutes.
func (a Attempts) Wait(now time.Time) time.Duration {
	if a.Failed < freeAttempts {
		return 0
	}
	delay := maxDelay
	if n := a.Failed - freeAttempts; n < 10 {
		delay = min(firstDelay<<n, maxDelay)
	}
	return max(0, a.LastAt.Add(delay).Sub(now))
}

// Count returns the attempts with one more, which counts as failed until it has succeeded: attempts at the same time have no
// more tries than those one after the other. Fault: RATE_LIMITED if it has to wait.
func (a Attempts) Count(now time.Time) (Attempts, error) {
	if !a.LastAt.IsZero() && now.Sub(a.LastAt) >= AttemptsRetention {
		a = Attempts{}
	}
	if wait := a.Wait(now); wait > 0 {
		f := fault.New(fault.RateLimited, "There were too many failed attempts. Try again in %s.", roundUp(wait))
		f.RetryAfter = wait
		return a, f
	}
	return Attempts{Failed: a.Failed + 1, LastAt: now}, nil
}

func roundUp(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// ErrSignIn is the fault of an attempt that fails, whichever of its parts was wrong: it does not say which addresses exist.
var ErrSignIn = &fault.Error{
	Code:   fault.Unauthorized,
	Reason: "Sign-in failed",
	Message: "The e-mail address, the password or the code is wrong. " +
		"A code counts once: wait for the next one if you have used it.",
}

// ErrCode is the fault of a code that is not accepted.
var ErrCode = &fault.Error{Code: fault.Unauthorized, Reason: "Code not accepted", Message: "The code is wrong, or was used already. Wait " +
	"for the next one that your application shows."}

// ErrCodesLocked is the fault of a code of the second factor after too many wrong ones.
var ErrCodesLocked = &fault.Error{Code: fault.Unauthorized, Reason: "Too many wrong codes", Message: "There were too many wrong codes " +
	"within 30 days, so codes of your application are not accepted. Use a recovery code, or ask an administrator for a new link."}

// SecretHash is the SHA-256 of the secret of a link or session, which has 256 random bits.
type SecretHash = [sha256.Size]byte

// NewSecret returns the text of a secret made of random bytes, and its hash.
func NewSecret(random [32]byte) (text string, hash SecretHash) {
	text = base64.RawURLEncoding.EncodeToString(random[:])
	return text, sha256.Sum256([]byte(text))
}

// ParseSecret returns the hash of a secret, or false for a text that NewSecret never returns.
func ParseSecret(text string) (SecretHash, bool) {
	decoded, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return sha256.Sum256([]byte(text)), err == nil && len(decoded) == 32
}
