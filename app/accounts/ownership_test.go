package accounts_test

import (
	"context"
	"errors"
	"testing"
	"time"

	proofs "causeway/adapters/walletproofs/sandbox"
	"causeway/app/accounts"
	"causeway/app/internal/apptest"
	"causeway/core/account"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/vasp"
	"causeway/ports"
)

// fakeLiveness is an identity provider that answers what a test sets.
type fakeLiveness struct {
	verdict account.LivenessVerdict
	err     error
	asked   int
}

func (f *fakeLiveness) StartLiveness(context.Context, account.External, account.Challenge) (account.LivenessSession, error) {
	return account.LivenessSession{Link: "https://identity.example.com"}, f.err
}

func (f *fakeLiveness) LivenessVerdict(context.Context, account.External, account.Challenge) (account.LivenessVerdict, error) {
	f.asked++
	return f.verdict, f.err
}

// newOwnershipEnv returns an environment whose identity provider is a fake.
func newOwnershipEnv(t *testing.T) (*env, *fakeLiveness) {
	t.Helper()
	e, fake := newEnv(t), &fakeLiveness{verdict: account.LivenessWaits}
	config := e.accounts.Config
	config.WalletProofs = ports.WalletProofsByEnvironment{platform.Sandbox: proofs.New(nil, nil)}
	config.Liveness = ports.LivenessByEnvironment{platform.Sandbox: fake}
	config.Jobs, config.Log = e.Store, e.Log
	e.accounts = accounts.New(config)
	return e, fake
}

// ownWallet registers a wallet whose owner has to prove it.
func (e *env) ownWallet(t *testing.T) ident.ExternalAccount {
	t.Helper()
	created, err := e.accounts.Create(t.Context(), e.Admin, nil, accounts.Request{Customer: e.Customer.ID, Currency: "USDC",
		Ownership: account.FirstParty, Info: map[string]any{"accountType": "ETHEREUM_WALLET",
			"address": "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"}})
	if err != nil {
		t.Fatal(err)
	}
	return created.ID
}

func (e *env) status(t *testing.T, id ident.ExternalAccount) account.Status {
	t.Helper()
	a, err := e.accounts.Get(t.Context(), e.Admin.Platform, accounts.OwnedByCustomers, id)
	if err != nil {
		t.Fatal(err)
	}
	return a.Status
}

func TestService_VerifyOwnership(t *testing.T) {
	t.Parallel()
	// Wrong answers make a wallet UNVERIFIED once, and the right one ACTIVE; each change has one event. Another kind of owner does not
	// have the account.
	env, _ := newOwnershipEnv(t)
	id := env.ownWallet(t)
	verify := func(signature string) error {
		_, err := env.accounts.Verify(t.Context(), env.Admin, accounts.OwnedByCustomers, nil, id, signature, "")
		return err
	}
	challenge := func(owner accounts.Owner) error {
		_, err := env.accounts.Challenge(t.Context(), env.Admin, owner, nil, id, account.WalletSignature)
		return err
	}

	apptest.WantFault(t, "before a challenge", verify("sandbox-valid-signature"), fault.Conflict)
	apptest.WantFault(t, "of the platform", challenge(accounts.OwnedByPlatform), fault.ExternalAccountNotFound)
	for range 2 {
		if err := challenge(accounts.OwnedByCustomers); err != nil {
			t.Fatal(err)
		}
	}
	apptest.WantFault(t, "wrong", verify("0x00"), fault.InvalidInput, "signature")
	apptest.WantFault(t, "wrong again", verify("0x00"), fault.InvalidInput, "signature")
	if status := env.status(t, id); status != account.Unverified {
		t.Errorf("the account is %s", status)
	}
	if err := verify("sandbox-valid-signature"); err != nil {
		t.Fatal(err)
	}
	apptest.WantFault(t, "twice", verify("sandbox-valid-signature"), fault.Conflict)
	apptest.WantFault(t, "after the proof", challenge(accounts.OwnedByCustomers), fault.Conflict)
	env.Events.Want(id.UUID(), event.ExternalAccountStatusUpdated, event.ExternalAccountStatusUpdated)
}

func TestService_VerifyOwnershipLate(t *testing.T) {
	t.Parallel()
	// A challenge ends at its time, also for the right signature.
	env, _ := newOwnershipEnv(t)
	id := env.ownWallet(t)
	if _, err := env.accounts.Challenge(t.Context(), env.Admin, accounts.OwnedByCustomers, nil, id, account.WalletSignature); err != nil {
		t.Fatal(err)
	}
	env.Clock.Advance(account.ChallengeLifetime)
	_, err := env.accounts.Verify(t.Context(), env.Admin, accounts.OwnedByCustomers, nil, id, "sandbox-valid-signature", "")
	apptest.WantFault(t, "late", err, fault.InvalidInput, "signature")
	if status := env.status(t, id); status != account.Unverified {
		t.Errorf("the account is %s", status)
	}
}

func TestService_Liveness(t *testing.T) {
	t.Parallel()
	// The identity provider is asked until it has decided, or the challenge has expired; a challenge after it makes its verdict void.
	for name, c := range map[string]struct {
		decide func(*env, *fakeLiveness, ident.ExternalAccount)
		want   account.Status
	}{
		"passed":  {func(_ *env, f *fakeLiveness, _ ident.ExternalAccount) { f.verdict = account.LivenessPassed }, account.Active},
		"failed":  {func(_ *env, f *fakeLiveness, _ ident.ExternalAccount) { f.verdict = account.LivenessFailed }, account.Unverified},
		"expired": {func(e *env, _ *fakeLiveness, _ ident.ExternalAccount) { e.Clock.Advance(time.Hour) }, account.Unverified},
		"void": {func(e *env, f *fakeLiveness, id ident.ExternalAccount) {
			f.verdict = account.LivenessPassed
			_, _ = e.accounts.Challenge(context.Background(), e.Admin, accounts.OwnedByCustomers, nil, id, account.WalletSignature)
		}, account.PendingOwnershipVerification},
	} {
		env, provider := newOwnershipEnv(t)
		id := env.ownWallet(t)
		issued, err := env.accounts.Challenge(t.Context(), env.Admin, accounts.OwnedByCustomers, nil, id, account.Liveness)
		if err != nil || issued.Link == "" {
			t.Fatalf("%s: %+v, %v", name, issued, err)
		}
		env.Clock.Advance(10 * time.Second)
		if err := env.accounts.CheckDue(ports.ForAllPlatforms(t.Context())); err != nil || provider.asked != 1 {
			t.Fatalf("%s: asked %d times, %v", name, provider.asked, err)
		}

		c.decide(env, provider, id)
		env.Clock.Advance(time.Minute)
		if err := env.accounts.CheckDue(ports.ForAllPlatforms(t.Context())); err != nil {
			t.Fatal(err)
		}

		if status, jobs := env.status(t, id), env.CountJobs(ports.StepCheckLiveness); status != c.want || jobs != 0 {
			t.Errorf("%s: %s with %d jobs, want %s", name, status, jobs, c.want)
		}
	}
}

func TestService_LivenessIsRefused(t *testing.T) {
	t.Parallel()
	// Nothing is stored if the provider does not start the check, and a platform is no person who could be present.
	env, provider := newOwnershipEnv(t)
	id := env.ownWallet(t)
	provider.err = errors.New("down")
	if _, err := env.accounts.Challenge(t.Context(), env.Admin, accounts.OwnedByCustomers, nil, id, account.Liveness); err == nil {
		t.Error("a check that has not started was stored")
	}
	if jobs := env.CountJobs(ports.StepCheckLiveness); jobs != 0 {
		t.Errorf("%d jobs", jobs)
	}
	own, err := env.accounts.Create(t.Context(), env.Admin, nil, accounts.Request{Currency: "USDT", Ownership: account.FirstParty,
		Info: map[string]any{"accountType": "TRON_WALLET", "address": "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = env.accounts.Challenge(t.Context(), env.Admin, accounts.OwnedByPlatform, nil, own.ID, account.Liveness)
	apptest.WantFault(t, "the platform", err, fault.InvalidInput, "method")
}

func TestService_ImportVASPs(t *testing.T) {
	t.Parallel()
	// The last import is the directory; a dry run changes nothing.
	env, _ := newOwnershipEnv(t)
	directory, err := vasp.New([][]string{{"name"}, {"Keeper"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, dryRun := range []bool{true, false} {
		if _, err := env.accounts.ImportVASPs(t.Context(), directory, platform.Author{Actor: "ana"}, dryRun); err != nil {
			t.Fatal(err)
		}
		if now, err := env.accounts.VASPs(t.Context()); err != nil || now.Has("Keeper") == dryRun || now.Has("Kraken") != dryRun {
			t.Errorf("dry run %t: %v, %v", dryRun, now, err)
		}
	}
}
