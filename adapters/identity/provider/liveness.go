package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/ports"
)

var _ ports.Liveness = (*Identity)(nil)

// LivenessCheck is the JSON of a check that a customer is present who owns a wallet.
type LivenessCheck struct {
	ID         string `json:"id"`
	PlatformID string `json:"platformId"`
	CustomerID string `json:"customerId"`
	AccountID  string `json:"externalAccountId"`
	Wallet     string `json:"wallet"`
	ExpiresAt  string `json:"expiresAt"`
}

// LivenessState is the JSON of a response: the state of a check. Link and Token are in the response to its start.
type LivenessState struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Link   string `json:"verificationLink,omitempty"`
	Token  string `json:"token,omitempty"`
}

// maxLink is the maximum size of a link or token, in bytes.
const maxLink = 2000

// StartLiveness implements ports.Liveness.
func (i *Identity) StartLiveness(ctx context.Context, a account.External, c account.Challenge) (account.LivenessSession, error) {
	text, err := json.Marshal(LivenessCheck{ID: c.ID.String(), PlatformID: a.Platform.String(), CustomerID: a.Customer.String(),
		AccountID: a.ID.String(), Wallet: a.Identifier(), ExpiresAt: c.ExpiresAt.UTC().Format(time.RFC3339)})
	if err != nil {
		return account.LivenessSession{}, err
	}
	body := &form{contentType: "application/json", size: int64(len(text)),
		parts: []formPart{func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}}
	state, err := i.liveness(ctx, "start-liveness", http.MethodPut, c, body)
	if status := StatusError(0); errors.As(err, &status) && (status == http.StatusNotFound || status == http.StatusMethodNotAllowed) {
		return account.LivenessSession{}, fault.New(fault.NotImplemented, "The identity provider of this service does not check whether "+
			"somebody is present. Use the method %s.", account.WalletSignature)
	}
	if err == nil {
		if link, invalid := url.Parse(state.Link); invalid != nil || link.Scheme != "https" && link.Scheme != "http" ||
			len(state.Link) > maxLink || len(state.Token) > maxLink {
			err = errors.New("identity provider: the response to the start of a liveness check has no valid verificationLink")
		}
	}
	if err != nil {
		return account.LivenessSession{}, errors.Join(&fault.Error{Code: fault.ServiceUnavailable, Reason: "Identity provider",
			RetryAfter: time.Minute, Message: "The identity provider did not start the check. Send the request again later."}, err)
	}
	return account.LivenessSession{Link: state.Link, Token: state.Token}, nil
}

// LivenessVerdict implements ports.Liveness.
func (i *Identity) LivenessVerdict(ctx context.Context, _ account.External, c account.Challenge) (account.LivenessVerdict, error) {
	state, err := i.liveness(ctx, "liveness", http.MethodGet, c, nil)
	if err != nil {
		return "", err
	}
	switch verdict := account.LivenessVerdict(state.Status); verdict {
	case account.LivenessWaits, account.LivenessPassed, account.LivenessFailed:
		return verdict, nil
	default:
		return "", fmt.Errorf("identity provider: the check %s has the unknown status %.32q", c.ID, state.Status)
	}
}

func (i *Identity) liveness(ctx context.Context, operation, method string, c account.Challenge,
	body *form) (state LivenessState, err error) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	text, err := i.exchange(ctx, operation, method, "liveness", c.ID, body)
	if err == nil {
		err = decodeState(text, &state)
	}
	if err == nil && state.ID != c.ID.String() {
		err = errors.New("identity provider: the response is about another check")
	}
	return state, err
}
