package partner

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/signedmessage"
	"causeway/ports"
)

// NameCheck asks whether a name is that of the owner of an account.
type NameCheck struct {
	ID         string `json:"id" doc:"A new UUID for each question."`
	PlatformID string `json:"platformId" doc:"Id of the platform that asks."`
	// Account has of its holder only the type and the name.
	Account Account `json:"account" doc:"The account, with the name in holder."`
}

// NameCheckResult is the answer to a NameCheck.
type NameCheckResult struct {
	ID     string          `json:"id" doc:"That of the question."`
	Result NameCheckStatus `json:"result" doc:"What the institution of the account has answered."`
	Name   string          `json:"name,omitempty" maxLength:"200" doc:"Name of the owner as the institution has it: required with PARTIAL_MATCH, possible with MATCH."`
}

// NameCheckStatus is the result of a name check.
type NameCheckStatus string

// The results.
const (
	NameMatches        NameCheckStatus = "MATCH"
	NameMatchesPartly  NameCheckStatus = "PARTIAL_MATCH"
	NameDiffers        NameCheckStatus = "NO_MATCH"
	NameOfNoAccount    NameCheckStatus = "NO_ACCOUNT"
	NameNotSupported   NameCheckStatus = "NOT_SUPPORTED"
	NameCheckedByPayee NameCheckStatus = "CHECKED_ON_PAYMENT"
	// NameCheckFailed is none: the provider has not answered as the contract says.
	NameCheckFailed NameCheckStatus = "FAILED"
)

// nameStatuses are the statuses of accounts by the results; NO_ACCOUNT is a fault.
var nameStatuses = map[NameCheckStatus]account.VerificationStatus{NameMatches: account.Matched, NameMatchesPartly: account.PartialMatch,
	NameDiffers: account.NotMatched, NameNotSupported: account.Unsupported, NameCheckedByPayee: account.CheckedByReceivingFI}

// maxOwner is how many characters the name of an owner has at most.
const maxOwner = 200

// check returns what of a result is not as the contract has it.
func (r NameCheckResult) check(q NameCheck) error {
	_, known := nameStatuses[r.Result]
	switch {
	case r.ID != q.ID:
		return errors.New("the answer is to another question")
	case !known && r.Result != NameOfNoAccount:
		return errors.New("result is none of MATCH, PARTIAL_MATCH, NO_MATCH, NO_ACCOUNT, NOT_SUPPORTED and CHECKED_ON_PAYMENT")
	case !isText(r.Name, maxOwner):
		return errors.New("name must have at most 200 printable characters")
	case r.Result == NameMatchesPartly && r.Name == "":
		return errors.New("name is required with PARTIAL_MATCH")
	case r.Result == NameMatchesPartly && r.Name == q.Account.Holder.Name:
		return errors.New("the name of a PARTIAL_MATCH is the one that was asked for")
	case r.Result != NameMatches && r.Result != NameMatchesPartly && r.Name != "":
		return errors.New("name is only for MATCH and PARTIAL_MATCH: nobody may learn the owner of an account by guessing")
	}
	return nil
}

// CheckName asks a provider of name checks.
func (c *Client) CheckName(ctx context.Context, q NameCheck) (NameCheckResult, error) {
	var r NameCheckResult
	if err := c.call(ctx, http.MethodPost, "/name-checks", nil, q, &r, maxState, ""); err != nil {
		return NameCheckResult{}, err
	}
	if err := r.check(q); err != nil {
		return NameCheckResult{}, err
	}
	return r, nil
}

// NewNameCheck returns the question about an account that has a holder.
func NewNameCheck(id string, a account.External) NameCheck {
	asked := *newAccount(a)
	asked.Holder = &Holder{Type: asked.Holder.Type, Name: asked.Holder.Name}
	return NameCheck{ID: id, PlatformID: a.Platform.String(), Account: asked}
}

// NameCheckConfig is what a NameChecker needs.
type NameCheckConfig struct {
	URL     string
	Secrets signedmessage.Secrets
	Timeout time.Duration
	// Required: without an answer an account is not registered.
	Required bool
	Clock    ports.Clock
	IDs      ports.IDs
	Log      *logrus.Entry
	// Asked is called after each question with its result, or FAILED; nil for nothing.
	Asked func(result NameCheckStatus, took time.Duration)
}

// NameChecker implements ports.Beneficiaries with a provider of name checks over HTTP, as docs/name-checks.md describes it. It is here, and
// not with the other adapters of that port, because it makes requests as a partner gets them.
type NameChecker struct {
	NameCheckConfig
	client *Client
}

var _ ports.Beneficiaries = (*NameChecker)(nil)

// NewNameChecker returns a NameChecker, or INVALID_INPUT.
func NewNameChecker(c NameCheckConfig) (*NameChecker, error) {
	client, err := openProvider(c.URL, c.Secrets, c.Timeout, c.Clock)
	return &NameChecker{c, client}, err
}

// unchecked is what the response that registers an account says if the provider has not answered.
const unchecked = "The name was not checked, because the name check did not answer. To have it checked, delete the account and " +
	"register it again."

// Close closes idle connections.
func (n *NameChecker) Close() { n.client.Close() }

// AcceptsTestValue implements ports.Beneficiaries: every account is real.
func (n *NameChecker) AcceptsTestValue(string) bool { return false }

// ChecksDigits implements ports.Beneficiaries.
func (n *NameChecker) ChecksDigits() bool { return true }

// Verify implements ports.Beneficiaries. It asks once and keeps no answer. A provider that does not answer as the contract says leaves
// the account unchecked, or is a SERVICE_UNAVAILABLE if the check is required. A wallet has no owner.
func (n *NameChecker) Verify(ctx context.Context, a account.External) (ports.Verification, error) {
	if a.Beneficiary == nil {
		return ports.Verification{}, nil
	}
	began := time.Now()
	r, err := n.client.CheckName(ctx, NewNameCheck(n.IDs.New(n.Clock.Now()).String(), a))
	if n.Asked != nil && ctx.Err() == nil {
		n.Asked(cmp.Or(r.Result, NameCheckFailed), time.Since(began))
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return ports.Verification{}, ctx.Err()
	case err != nil:
		n.Log.WithError(err).WithField("platform", a.Platform.String()).Warn("name check failed")
		if n.Required {
			return ports.Verification{}, fault.New(fault.ServiceUnavailable,
				"The name of the beneficiary cannot be checked now, and the account is not registered without. Repeat the request later.")
		}
		return ports.Verification{Status: account.Unsupported, Reason: unchecked}, nil
	case r.Result == NameOfNoAccount:
		return ports.Verification{}, fault.New(fault.InvalidBankAccount,
			"There is no such account at the receiving institution; check the account details and register it again.")
	case r.Result == NameMatches && r.Name == "":
		r.Name = a.Beneficiary.Name()
	}
	return ports.Verification{Status: nameStatuses[r.Result], Name: r.Name}, nil
}
