package authentication

import (
	"context"
	"net/netip"
	"time"

	"causeway/app/internal/strongauth"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/sca"
	"causeway/ports"
)

// StartLogin asks for a proof with a factor, and sends the code of SMS_OTP. Faults: CONFLICT if the customer does not have the factor;
// RATE_LIMITED; NOT_IMPLEMENTED if the service sends no text messages.
func (s *Service) StartLogin(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, id ident.Customer,
	f sca.Factor) (sca.Asked, error) {
	return do(ctx, s, p, request, id, func(ctx context.Context, tx Tx, of strongauth.Subject, now time.Time) (sca.Asked, error, error) {
		asked, err := s.Ask(ctx, tx, of, f, now.Add(sca.LoginLifetime), now)
		return asked, nil, err
	})
}

// Login is the proof of a login.
type Login struct {
	sca.Proof
	// Challenge is that of StartLogin. It may be zero but for SMS_OTP: only the latest one counts.
	Challenge ident.SCAChallenge
	IPAddress string
}

func (l Login) check() error {
	var bad []fault.Field
	if _, err := netip.ParseAddr(l.IPAddress); err != nil {
		bad = append(bad, fault.Field{Field: "endUserIpAddress", Message: "must be the IPv4 or IPv6 address of the customer"})
	}
	if l.Factor == sca.SMSOTP && l.Challenge.IsZero() {
		bad = append(bad, fault.Field{Field: "challengeId", Message: "is required for SMS_OTP"})
	}
	if len(bad) == 0 {
		return nil
	}
	return fault.Invalid(bad...)
}

// CompleteLogin opens a session. A wrong proof is counted. Faults: INVALID_INPUT for a wrong proof, CONFLICT if the customer does not have
// the factor, ACCOUNT_LOCKED.
func (s *Service) CompleteLogin(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, id ident.Customer,
	l Login) (sca.Session, error) {
	if err := l.check(); err != nil {
		return sca.Session{}, err
	}
	return do(ctx, s, p, request, id, func(ctx context.Context, tx Tx, of strongauth.Subject, now time.Time) (opened sca.Session, refused,
		err error) {
		if refused, err = s.Prove(ctx, tx, of, l.Challenge, l.Proof, now); refused != nil || err != nil {
			return opened, refused, err
		}
		opened = sca.Session{ID: ident.NewSCASession(s.IDs.New, now), Platform: p, Customer: id, Factor: l.Factor, IPAddress: l.IPAddress,
			CreatedAt: now, ExpiresAt: now.Add(sca.SessionLifetime)}
		return opened, nil, tx.CreateSCASession(ctx, opened)
	})
}

// The events that a platform records.
const (
	FailedLogin   = "FAILED_LOGIN_ATTEMPT"
	PasswordReset = "RESET_PASSWORD_COMPLETED"
)

// RecordEvent counts a failed login, such as a wrong password at the platform, or ends all sessions and clears the counter after the
// password was reset. A failed login of a locked customer counts too, because somebody has guessed. Fault: ACCOUNT_LOCKED if the customer
// was locked before.
func (s *Service) RecordEvent(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, id ident.Customer,
	event string) (sca.Account, error) {
	return do(ctx, s, p, request, id, func(ctx context.Context, tx Tx, _ strongauth.Subject, now time.Time) (a sca.Account, refused,
		err error) {
		if a, err = tx.LockSCAAccount(ctx, p, id); err != nil {
			return a, nil, err
		}
		if event == PasswordReset {
			a = a.Clear(now)
			if err := tx.EndSCASessions(ctx, p, id, "", now); err != nil {
				return a, nil, err
			}
			return a, nil, tx.SaveSCAAccount(ctx, a)
		}
		wasLocked := a.CheckLock(now) != nil
		if a = a.Fail("", now); wasLocked {
			refused = a.CheckLock(now)
		}
		return a, refused, tx.SaveSCAAccount(ctx, a)
	})
}
