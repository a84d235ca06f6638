package partner

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"time"

	"causeway/core/signedmessage"
	"causeway/ports"
)

// SMS is a text message that the provider is to send.
type SMS struct {
	ID         string    `json:"id" doc:"The same when it is sent again."`
	PlatformID string    `json:"platformId" doc:"Id of the platform whose customer gets it."`
	To         string    `json:"to" doc:"The phone number in the form of E.164."`
	Sender     string    `json:"sender" doc:"Name of the app."`
	Text       string    `json:"text" doc:"What it says."`
	ExpiresAt  time.Time `json:"expiresAt" doc:"When it is of no use any more."`
}

// SMSResult is the answer to an SMS.
type SMSResult struct {
	ID     string    `json:"id" doc:"That of the text message."`
	Result SMSStatus `json:"result" doc:"Whether the provider sends it."`
	Code   string    `json:"code,omitempty" maxLength:"40" doc:"Why it is REFUSED."`
}

// SMSStatus is what becomes of a text message.
type SMSStatus string

// The statuses.
const (
	SMSAccepted SMSStatus = "ACCEPTED"
	SMSRefused  SMSStatus = "REFUSED"
)

// smsCode is a code, in which no phone number can be.
var smsCode = regexp.MustCompile(`^[A-Z][A-Z_]{0,39}$`)

// check returns what of a result is not as the contract has it.
func (r SMSResult) check(m SMS) error {
	switch {
	case r.ID != m.ID:
		return errors.New("the answer is about another text message")
	case r.Result != SMSAccepted && r.Result != SMSRefused:
		return errors.New("result is none of ACCEPTED and REFUSED")
	case (r.Result == SMSRefused) != (r.Code != ""):
		return errors.New("code is required with REFUSED, and only for that")
	case r.Code != "" && !smsCode.MatchString(r.Code):
		return errors.New("code must be at most 40 capital letters and underscores, such as INVALID_NUMBER")
	}
	return nil
}

// SendSMS asks a provider to send a text message.
func (c *Client) SendSMS(ctx context.Context, m SMS) (SMSResult, error) {
	var r SMSResult
	if err := c.call(ctx, http.MethodPost, "/sms", nil, m, &r, maxState, ""); err != nil {
		return SMSResult{}, err
	}
	if err := r.check(m); err != nil {
		return SMSResult{}, err
	}
	return r, nil
}

// SMSSender implements ports.SMSSender with a provider over HTTP, as docs/sms.md describes it. It is here because it makes requests as a
// partner gets them.
type SMSSender struct{ client *Client }

var _ ports.SMSSender = (*SMSSender)(nil)

// smsTimeout is how long the answer of a provider is waited for.
const smsTimeout = 20 * time.Second

// NewSMSSender returns a SMSSender, or INVALID_INPUT.
func NewSMSSender(url string, secrets signedmessage.Secrets, clock ports.Clock) (*SMSSender, error) {
	client, err := openProvider(url, secrets, smsTimeout, clock)
	return &SMSSender{client}, err
}

// Close closes idle connections.
func (s *SMSSender) Close() { s.client.Close() }

// Send implements ports.SMSSender.
func (s *SMSSender) Send(ctx context.Context, m ports.SMS) error {
	r, err := s.client.SendSMS(ctx, SMS{ID: m.ID.String(), PlatformID: m.Platform.String(), To: m.To, Sender: m.Sender, Text: m.Text,
		ExpiresAt: m.ExpiresAt})
	var busy *StatusError
	switch {
	case errors.As(err, &busy) && busy.Temporary():
		return &ports.TryLaterError{After: busy.RetryAfter, Err: err}
	case err == nil && r.Result == SMSRefused:
		return &ports.MessageRefusedError{Reason: r.Code}
	}
	return err
}
