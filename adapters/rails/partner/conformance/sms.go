package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/partner"
)

// The phone numbers of the tests; any other is accepted. They are kept free for fiction.
const (
	SMSNumber        = "+12025550100"
	SMSRefusedNumber = "+12025550101"
	SMSBusyNumber    = "+12025550102"
)

// smsSuite tests one provider of text messages.
type smsSuite struct{ *ProviderSuite }

// NewSMS returns a suite for a provider of text messages, or an error for options that are not valid.
func NewSMS(ctx context.Context, o ProviderOptions) (*ProviderSuite, error) {
	return newProviderSuite(ctx, o, func(p *ProviderSuite) []rule { return smsSuite{p}.rules() })
}

func (s smsSuite) rules() []rule {
	rules := s.common(request{"POST /sms", func(ctx context.Context, client *partner.Client) error {
		return orError(client.SendSMS(ctx, s.message(SMSNumber)))
	}})
	return append(rules,
		rule{"accept", "a text message is ACCEPTED (number " + SMSNumber + ")", s.checkAccepted},
		rule{"refuse", "a number to which nothing can be sent is REFUSED, with a code (" + SMSRefusedNumber + ")", s.checkRefused},
		rule{"again", "a repeated text message has the same answer", s.checkAgain},
		rule{"conflict", "the id of a text message with another text gets 409", s.checkConflict},
		rule{"busy", "what cannot be sent now gets 503 or 429 with Retry-After (" + SMSBusyNumber + ")", s.checkBusy},
		rule{"no-number", "a text message without a number gets 400", s.checkNoNumber},
		rule{"expired", "a text message that is of no use any more is REFUSED with EXPIRED", s.checkExpired},
		rule{"in-time", fmt.Sprintf("every text message is answered within %s", s.Within), s.checkInTime})
}

// message returns a new text message to a number.
func (s smsSuite) message(to string) partner.SMS {
	return partner.SMS{ID: uuid.NewString(), PlatformID: s.platform(), To: to, Sender: "Acme",
		Text: "482916 is your code for Acme. It expires in 10 minutes. Do not give it to anyone.", ExpiresAt: s.Clock.Now().Add(10 * time.Minute)}
}

func (s smsSuite) want(ctx context.Context, m partner.SMS, want partner.SMSStatus) error {
	r, err := s.client.SendSMS(ctx, m)
	if err == nil && r.Result != want {
		err = fmt.Errorf("a text message to %s was answered with %s, not with %s", m.To, r.Result, want)
	}
	return err
}

func (s smsSuite) checkAccepted(ctx context.Context) error {
	return s.want(ctx, s.message(SMSNumber), partner.SMSAccepted)
}

func (s smsSuite) checkRefused(ctx context.Context) error {
	return s.want(ctx, s.message(SMSRefusedNumber), partner.SMSRefused)
}

func (s smsSuite) checkAgain(ctx context.Context) error {
	for _, m := range []partner.SMS{s.message(SMSNumber), s.message(SMSRefusedNumber)} {
		first, err := s.client.SendSMS(ctx, m)
		if err != nil {
			return err
		}
		again, err := s.client.SendSMS(ctx, m)
		if err != nil {
			return err
		}
		if again != first {
			return fmt.Errorf("answered with %s, and then with %s", first.Result, again.Result)
		}
	}
	return nil
}

func (s smsSuite) checkConflict(ctx context.Context) error {
	m := s.message(SMSNumber)
	if err := s.want(ctx, m, partner.SMSAccepted); err != nil {
		return err
	}
	m.Text = "Another text."
	return wantStatus("POST /sms with another text", orError(s.client.SendSMS(ctx, m)), http.StatusConflict)
}

func (s smsSuite) checkBusy(ctx context.Context) error {
	_, err := s.client.SendSMS(ctx, s.message(SMSBusyNumber))
	var status *partner.StatusError
	if !errors.As(err, &status) || !status.Temporary() {
		return errors.New("it was not answered with 503 or 429 and Retry-After in seconds")
	}
	return nil
}

func (s smsSuite) checkNoNumber(ctx context.Context) error {
	return wantStatus("POST /sms without a number", orError(s.client.SendSMS(ctx, s.message(""))), http.StatusBadRequest)
}

func (s smsSuite) checkExpired(ctx context.Context) error {
	m := s.message(SMSNumber)
	m.ExpiresAt = s.Clock.Now().Add(-time.Minute)
	r, err := s.client.SendSMS(ctx, m)
	if err == nil && (r.Result != partner.SMSRefused || r.Code != "EXPIRED") {
		err = fmt.Errorf("answered with %s %s", r.Result, r.Code)
	}
	return err
}

func (s smsSuite) checkInTime(ctx context.Context) error {
	for _, number := range []string{SMSNumber, SMSRefusedNumber} {
		began := time.Now()
		if _, err := s.client.SendSMS(ctx, s.message(number)); err != nil {
			return err
		}
		if took := time.Since(began); took > s.Within {
			return fmt.Errorf("the number %s took %s", number, took.Round(time.Millisecond))
		}
	}
	return nil
}
