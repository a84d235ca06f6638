package wallets

import (
	"context"
	"time"

	"causeway/app/internal/mails"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

// newCode is a code to be sent, with its hash.
type newCode struct {
	text string
	hash wallet.CodeHash
	// target is the key to which a client can encrypt the code: otpEncryptionTargetBundle.
	target string
}

// newCode makes a code of a credential. It returns NOT_IMPLEMENTED if none can be sent.
func (s *Service) newCode(ctx context.Context, proofs ports.WalletProofs, settings platform.Platform,
	c wallet.Credential) (code newCode, err error) {
	available := s.Mails.CheckAvailable
	if c.Type == wallet.SMSOTP {
		available = s.Mails.CheckSMSAvailable
	}
	if err := available(settings); err != nil {
		return code, err
	}
	limits := settings.WalletSettings()
	if code.text, err = proofs.NewCode(limits.CodeLength, limits.AlphanumericCodes); err != nil {
		return code, err
	}
	if code.hash, err = s.Store.WalletCodeHash(ctx, c.Platform, c.ID, code.text); err != nil {
		return code, err
	}
	code.target, err = s.Custody.OTPTarget(ctx, ports.WalletID{Platform: c.Platform, Account: c.Account})
	return code, err
}

// queueCode makes a code the only one of a credential, and adds the mail or text message with it to the queue. Fault:
// RATE_LIMITED.
func (s *Service) queueCode(ctx context.Context, tx Tx, settings platform.Platform, c wallet.Credential, code newCode,
	now time.Time) error {
	last, err := tx.LockWalletCode(ctx, c.Platform, c.ID)
	if err != nil {
		return err
	}
	lifetime := settings.WalletSettings().CodeLifetime
	sent, err := last.Sent(code.hash, lifetime, now)
	if err != nil {
		return err
	}
	if err := tx.SaveWalletCode(ctx, sent); err != nil {
		return err
	}
	message := mails.Code(code.text, lifetime)
	if c.Type == wallet.SMSOTP {
		message = mails.SMSCode(code.text, "", lifetime)
	}
	return s.Mails.Add(ctx, tx, settings, c.SentTo, message.About("sign in", c.ID.String()), now)
}

// proveCode checks a one-time code. A wrong one is counted in a commit of its own, in which the row is locked, so that
// none is missed. That there is no code, that it has expired and that it was tried too often is the same error as a wrong
// one. After too many wrong ones, no code is looked at until the delay is over; the test value of the sandbox always is.
func (s *Service) proveCode(ctx context.Context, proofs ports.WalletProofs, c wallet.Credential, v Verification) (proof, error) {
	tried, err := s.Store.WalletCodeHash(ctx, c.Platform, c.ID, v.Code)
	if err != nil {
		return proof{}, err
	}
	testCode := proofs.AcceptsTestCode(v.Code)
	if !testCode {
		matches := false
		if err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
			code, err := tx.LockWalletCode(ctx, c.Platform, c.ID)
			if err != nil {
				return err
			}
			now := s.now()
			if err := code.CheckDelay(now); err != nil {
				return err
			}
			if matches = code.Matches(tried, now); matches || !code.Valid(now) {
				return nil
			}
			return tx.SaveWalletCode(ctx, code.Failed(now))
		}); err != nil {
			return proof{}, err
		}
		if !matches {
			return proof{}, wallet.InvalidCode()
		}
	}
	return proof{client: v.ClientKey, use: func(ctx context.Context, tx Tx, locked wallet.Credential) (wallet.Credential, error) {
		code, err := tx.LockWalletCode(ctx, c.Platform, c.ID)
		if err != nil {
			return locked, err
		}
		if !testCode {
			now := s.now()
			if err := code.CheckDelay(now); err != nil {
				return locked, err
			}
			if !code.Matches(tried, now) {
				return locked, wallet.InvalidCode()
			}
		}
		used := code.Used()
		if used == code {
			return locked, nil // the test value, and no code was sent
		}
		return locked, tx.SaveWalletCode(ctx, used)
	}}, nil
}
