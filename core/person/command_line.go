package person

import (
	"slices"
	"strings"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
)

// SignInRequest is what the command line asks for: a person who has signed in to the console approves it there with its code, and the
// command line, which alone has the secret, gets a session of the person.
type SignInRequest struct {
	// Code names the request, see NewSignInCode.
	Code string
	// SecretHash is that of the session that an approval begins.
	SecretHash SecretHash
	// From is where the request comes from, such as ana@laptop: what the user of the machine says.
	From                 string
	CreatedAt, ExpiresAt time.Time
}

const (
	// SignInRequestLifetime is how long a request of the command line can be approved.
	SignInRequestLifetime = 10 * time.Minute
	// CommandLineLifetime is how long a person stays signed in on the command line.
	CommandLineLifetime = 8 * time.Hour
	// RecentSignIn is how old the sign-in may be with which a person approves on the command line what another one has proposed.
	RecentSignIn = 15 * time.Minute
	// maxFrom is the length of what a request says about where it comes from.
	maxFrom = 200
)

// signInLetters have no vowels, so that no code is a word, and none that looks like another one.
const signInLetters = "BCDFGHJKLMNPQRSTVWXZ"

const signInCodeLength = 8

// NewSignInCode returns the code of a request made of random bytes: 8 letters, 34 bits, which live for minutes and are of no use to
// who has no session.
func NewSignInCode(random [signInCodeLength]byte) string {
	var code strings.Builder
	for _, b := range random {
		code.WriteByte(signInLetters[int(b)%len(signInLetters)])
	}
	return code.String()
}

// GroupSignInCode returns a code as it is shown, such as BCDF-GHJK.
func GroupSignInCode(code string) string {
	if len(code) != signInCodeLength {
		return code
	}
	return code[:4] + "-" + code[4:]
}

// ParseSignInCode returns the code that a person has typed. Fault: CONFLICT, as for one that was never given.
func ParseSignInCode(text string) (string, error) {
	code := strings.NewReplacer("-", "", " ", "").Replace(strings.ToUpper(text))
	if len(code) != signInCodeLength || strings.Trim(code, signInLetters) != "" {
		return "", ErrSignInRequest
	}
	return code, nil
}

// NewSignInRequest returns a request.
func NewSignInRequest(code string, secret SecretHash, from string, now time.Time) SignInRequest {
	if runes := []rune(strings.ToValidUTF8(from, "")); len(runes) > maxFrom {
		from = string(runes[:maxFrom])
	}
	return SignInRequest{Code: code, SecretHash: secret, From: strings.ToValidUTF8(from, ""), CreatedAt: now,
		ExpiresAt: now.Add(SignInRequestLifetime)}
}

// Check returns CONFLICT if the request can no longer be approved.
func (r SignInRequest) Check(now time.Time) error {
	if !now.Before(r.ExpiresAt) {
		return ErrSignInRequest
	}
	return nil
}

// Approve returns the session that a person begins for the command line.
func (r SignInRequest) Approve(p ident.Person, now time.Time) Session {
	s := NewSession(r.SecretHash, p, now)
	s.CommandLine, s.ExpiresAt = true, now.Add(CommandLineLifetime)
	return s.On(r.From)
}

// ErrSignInRequest is the fault of a code of the command line that names no request that can be approved.
var ErrSignInRequest = &fault.Error{Code: fault.Conflict, Reason: "Code not valid", Message: "No sign-in of the command line waits with " +
	"this code: it is mistyped, was approved or refused, or is older than 10 minutes. Start again with causeway login."}

// CheckRecent returns CONFLICT if the person has signed in too long ago to approve something.
func (s Session) CheckRecent(now time.Time) error {
	if now.Sub(s.CreatedAt) < RecentSignIn {
		return nil
	}
	return &fault.Error{Code: fault.Conflict, Reason: "Sign in again", Message: "You have signed in more than 15 minutes ago. Sign in " +
		"again with `causeway login`, and repeat the command: an approval needs it."}
}

// WithoutPerson is a command that an operator runs on a production service without signing in.
type WithoutPerson struct{ Command, Reason string }

// CommandsWithoutPerson are all commands that somebody with access to the database runs on a production service although nobody has
// signed in: those without which nobody could, those that stop harm at once, and those that a schedule runs. Each time is recorded.
var CommandsWithoutPerson = []WithoutPerson{
	{"people invite", "Nobody can sign in, or no administrator is left."},
	{"people link", "Somebody has lost the password or second factor."},
	{"people disable", "Somebody must not sign in any more, at once."},
	{"token delete", "A secret is in wrong hands."},
	{"keys rotate", "A key is in wrong hands, or a schedule replaces it."},
	{"webhooks rotate-keys", "A key is in wrong hands."},
	{"platform revoke-uma-keys", "A key is in wrong hands."},
	{"ledger rotate-key", "A key is in wrong hands."},
	{"rails pause", "Money must not leave, at once."},
	{"recover review", "The database has lost commits, and the console is not served."},
	{"screening load", "A schedule loads the lists."},
	{"ledger archive", "A schedule archives months."},
	{"ledger journals", "A schedule writes the journals."},
	{"ledger reconcile", "A schedule imports statements."},
}

// NeedsPerson reports whether a command on a production service needs a person who has signed in.
func NeedsPerson(command string) bool {
	return !slices.ContainsFunc(CommandsWithoutPerson, func(c WithoutPerson) bool { return c.Command == command })
}

// approvals are the commands with which a person approves what another one has proposed.
var approvals = []string{"ledger proposals approve", "corridors approve", "payouts mark-not-sent"}

// NeedsRecentSignIn reports whether a person has to have signed in a short time ago to run a command.
func NeedsRecentSignIn(command string) bool { return slices.Contains(approvals, command) }

// ErrNotSignedIn is the fault of a command that needs a person, and nobody has signed in.
var ErrNotSignedIn = &fault.Error{Code: fault.Unauthorized, Reason: "Not signed in", Message: "This command records who runs it. Sign in " +
	"with `causeway login`, and repeat it."}
