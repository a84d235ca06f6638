package payments

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"causeway/app/internal/batch"
	"causeway/app/internal/limiting"
	"causeway/app/internal/spans"
	"causeway/app/internal/uow"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/sca"
	"causeway/core/tracing"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/ledger"
	"causeway/ports"
)

type executeCommand struct {
	quote       ports.QuoteKey
	idempotency *ports.IdempotentRequest
	// signature is that of the owner of the wallet that pays, and session the one that made it, which is
	// zero for a test value; the signature is empty if nobody has signed.
	signature string
	session   wallet.Session
	// factor is with what the payer will authorise the payment, if it has to; empty for the first that it has.
	factor sca.Factor
	// executed is set once a batch has executed the quote for the command. If the result of its commit
	// was lost, the quote is executed. If the batch failed for another reason, and the quote had been
	// executed before, the command is refused in its own next batch as it was in the first.
	executed bool
	// trace is the place of the request in its trace, which is that of the payment from then on.
	trace tracing.Context
}

// ExecuteQuote executes a quote that an account funds, and returns the quote afterwards. Any number of
// calls execute it once. Faults: QUOTE_NOT_FOUND, QUOTE_EXPIRED,
// QUOTE_ALREADY_EXECUTED; UNAUTHORIZED (an embedded wallet pays); QUOTE_NOT_EXECUTABLE and USER_NOT_READY, also if an account or a customer
// was
// deleted or suspended since the quote was created; INSUFFICIENT_BALANCE, AMOUNT_OUT_OF_RANGE, TRANSACTION_SIZE_LIMIT_EXCEEDED and
// DAILY_VOLUME_LIMIT_EXCEEDED (the quote does not change, and can be executed once the account is funded, the receiving account has
// capacity, or the limits allow it).
func (s *Service) ExecuteQuote(ctx context.Context, platform ident.Platform, id ident.Quote,
	claim *ports.IdempotentRequest) (quote.WithStatus, error) {
	return s.runExecution(ctx, &executeCommand{quote: ports.QuoteKey{Platform: platform, ID: id}, idempotency: claim,
		trace: spans.Context(ctx)})
}

// runExecution executes a quote in a batch or, if its payer has to authorise it, by itself.
func (s *Service) runExecution(ctx context.Context, command *executeCommand) (quote.WithStatus, error) {
	executed, err := s.executeBatcher.Do(ctx, command.quote.Platform, command)
	if errors.Is(err, errPayerAuthorizes) {
		return s.executeAuthorized(ctx, command)
	}
	return executed, err
}

// Signature is the header Service-Wallet-Signature of a request; Text is empty if there is none.
type Signature struct {
	Text        string
	Environment platform.Environment
}

// ExecuteSignedQuote is ExecuteQuote for a request that may have a signature. It is ignored unless an
// embedded wallet pays; then the owner of the wallet must have signed the payload of the quote, in a
// session that is active at the commit.
// A payer who has to authorise the payment is asked for a proof with the factor, or with the first that it has if it is empty.
func (s *Service) ExecuteSignedQuote(ctx context.Context, p ident.Platform, id ident.Quote, signature Signature, factor sca.Factor,
	claim *ports.IdempotentRequest) (quote.WithStatus, error) {
	command := &executeCommand{quote: ports.QuoteKey{Platform: p, ID: id}, idempotency: claim, factor: factor, trace: spans.Context(ctx)}
	if signature.Text != "" {
		if err := s.checkSignature(ctx, command, signature); err != nil {
			return quote.WithStatus{}, err
		}
	}
	return s.runExecution(ctx, command)
}

// checkSignature adds the signature to the command, and the session that made it. It adds nothing if the
// quote needs none, or cannot be executed: then that is the fault of the command.
func (s *Service) checkSignature(ctx context.Context, command *executeCommand, signature Signature) error {
	now := s.Clock.Now()
	_, t, err := s.Store.Quote(ctx, command.quote.Platform, command.quote.ID)
	if err != nil || t.Flow().Funding != transaction.Wallet || t.CheckExecutable(now) != nil {
		return err
	}
	proofs, known := s.WalletProofs[signature.Environment]
	if !known {
		return fault.New(fault.NotImplemented, "Signatures of embedded wallets cannot be checked on %s platforms of this service.",
			signature.Environment)
	}
	sessions, err := s.Store.ActiveWalletSessions(ctx, ports.WalletID{Platform: t.Platform, Account: t.Source.InternalAccount}, now)
	if err != nil {
		return err
	}
	session, err := proofs.CheckSignature(t.Payload, signature.Text, sessions)
	if err != nil {
		return err
	}
	command.signature, command.session = signature.Text, session
	return nil
}

func (s *Service) executeBatch(ctx context.Context, orders []*executeCommand) ([]batch.Result[quote.WithStatus], error) {
	keys := make([]ports.QuoteKey, len(orders))
	for i, o := range orders {
		keys[i] = o.quote
	}
	rules, err := s.limits(ctx, keys[0].Platform)
	if err != nil {
		return nil, err
	}
	var results []batch.Result[quote.WithStatus]
	var done work
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		results, done = make([]batch.Result[quote.WithStatus], len(orders)), s.newWork()
		sessions, err := lockSessions(ctx, tx, orders)
		if err != nil {
			return err
		}
		var authorized []wallet.Authorization
		states, err := tx.LockQuotes(ctx, keys)
		if err != nil {
			return err
		}
		about := make([]transaction.Transaction, 0, len(states))
		limited := make([]limit.Payment, 0, len(states))
		for _, state := range states {
			about = append(about, state.Transaction)
			limited = append(limited, limiting.PaymentOf(state.Transaction.Pricing.Sent, state.Parties.Customer))
		}
		balances, err := done.lockBalances(ctx, tx, about)
		if err != nil {
			return err
		}
		if err := done.limits.Lock(ctx, tx, keys[0].Platform, rules, limited); err != nil {
			return err
		}
		for i, o := range orders {
			state, known := states[o.quote]
			if !known {
				results[i].Err = fault.New(fault.QuoteNotFound, "There is no quote %s.", o.quote.ID)
			} else {
				var evidence []wallet.Authorization
				results[i].Value, evidence, results[i].Err = done.execute(state, o, sessions, balances)
				authorized = append(authorized, evidence...)
			}
			if errors.Is(results[i].Err, errPayerAuthorizes) {
				continue
			}
			o.executed = o.executed || results[i].Err == nil
			if err := uow.SaveResponse(ctx, tx, o.idempotency, results[i].Value, results[i].Err); err != nil {
				return err
			}
		}
		// The database debits a wallet only if it has the evidence.
		if err := tx.SaveWalletAuthorizations(ctx, authorized); err != nil {
			return err
		}
		return done.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	s.afterCommit(done)
	return results, nil
}

// execute decides about one command, after those before it in the batch. It returns the quote, and the
// evidence if the owner of a wallet authorised the payment.
func (w work) execute(state ports.QuoteState, o *executeCommand, sessions map[ident.Session]wallet.Session,
	balances ledger.Balances) (quote.WithStatus, []wallet.Authorization, error) {
	d, evidence, err := w.decideExecution(state, o, sessions)
	if o.executed && fault.Is(err, fault.QuoteAlreadyExecuted) {
		return state.Quote.Of(w.Latest(state.Transaction)), nil, nil
	}
	if err != nil {
		return quote.WithStatus{}, nil, err
	}
	if d.Challenges {
		return quote.WithStatus{}, nil, errPayerAuthorizes
	}
	if err := w.limits.Check(&d.Transaction, state.Parties.Customer); err != nil {
		return quote.WithStatus{}, nil, err
	}
	if err := applyPostings(balances, d); err != nil {
		return quote.WithStatus{}, nil, err
	}
	w.limits.Count(d.Transaction)
	w.Update(d)
	return state.Quote.Of(d.Transaction), evidence, nil
}

// decideExecution decides about one command without regard to balances.
func (w work) decideExecution(state ports.QuoteState, o *executeCommand, sessions map[ident.Session]wallet.Session) (
	transaction.Decision, []wallet.Authorization, error) {
	t := w.Latest(state.Transaction)
	state.Parties.OwnershipLimits = w.ownership
	t.Trace = cmp.Or(o.trace, t.Trace)
	var d transaction.Decision
	var evidence []wallet.Authorization
	var err error
	if o.signature == "" {
		d, err = t.Execute(state.Parties, w.Now)
	} else {
		d, err = t.ExecuteSigned(state.Parties, w.Now)
		if err == nil && !quote.PayloadMatches(t.Payload, t) {
			err = notAsSigned(t)
		}
		evidence = []wallet.Authorization{wallet.NewAuthorization(t.Platform, t.ID, t.Source.InternalAccount, t.Payload,
			o.signature, o.session, w.Now)}
	}
	if err == nil && !o.session.ID.IsZero() && !sessions[o.session.ID].Active(w.Now) {
		err = wallet.InvalidSignature("The session that made the signature in Service-Wallet-Signature has ended. Open a new one, and sign " +
			"payloadToSign again.")
	}
	return d, evidence, err
}

// notAsSigned is the fault of a payment that was changed in the database: its owner did not sign this one.
func notAsSigned(t transaction.Transaction) error {
	return fault.New(fault.QuoteNotExecutable, "%s is not what payloadToSign says. Create a new quote.", t.ID)
}

// lockSessions returns the sessions that have signed, as they are now, and keeps them from being ended
// until the commit. It reads nothing if nobody has signed.
func lockSessions(ctx context.Context, tx Tx, orders []*executeCommand) (map[ident.Session]wallet.Session, error) {
	var ids []ident.Session
	for _, o := range orders {
		if !o.session.ID.IsZero() && !slices.Contains(ids, o.session.ID) {
			ids = append(ids, o.session.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return tx.LockWalletSessions(ctx, orders[0].quote.Platform, ids)
}

// applyPostings applies the postings of a decision to locked balances, so that the next decision sees
// the result. It returns INSUFFICIENT_BALANCE or AMOUNT_OUT_OF_RANGE, and applies nothing, if an
// account does not allow them.
func applyPostings(balances ledger.Balances, d transaction.Decision) error {
	if err := uow.CheckCapacity(balances, d.Postings); err != nil {
		return err
	}
	for _, posting := range d.Postings {
		err := balances.Apply(posting)
		var short *ledger.InsufficientBalanceError
		if errors.As(err, &short) {
			return fault.New(fault.InsufficientBalance, "The account holds %s, and %s is needed. Fund it first.",
				money.Amount{Minor: short.Shortfalls[0].Balance, Currency: short.Shortfalls[0].Account.Currency}, d.Transaction.Pricing.Sent)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
