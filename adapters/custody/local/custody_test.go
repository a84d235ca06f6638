package local_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/custody/local"
	"causeway/adapters/encryption"
	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/wallet"
	"causeway/ports"
	"causeway/ports/portstest"
)

var (
	noon      = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	generator = ids.New()
)

func TestCustody_ConformsInMemory(t *testing.T) {
	t.Parallel()
	// The custody on a store in memory passes the suite of the port.
	portstest.Custody(t, local.New(newMemoryStore()), func(*testing.T) (one, other, elsewhere ports.WalletID) {
		here, there := ident.NewPlatform(generator.New, noon), ident.NewPlatform(generator.New, noon)
		account, second := ident.NewInternalAccount(generator.New, noon), ident.NewInternalAccount(generator.New, noon)
		return ports.WalletID{Platform: here, Account: account}, ports.WalletID{Platform: here, Account: second},
			ports.WalletID{Platform: there, Account: account}
	})
}

func TestCustody_ConformsOnPostgres(t *testing.T) {
	t.Parallel()
	// The custody on the tables of the service, with encryption as in the service, passes the suite.
	env := newEnv(t)
	portstest.Custody(t, local.New(env.db), env.newWallets)
}

// memoryStore implements ports.WalletKeyStore in memory, without encryption.
type memoryStore struct {
	mu     sync.Mutex
	keys   map[ports.WalletID]storedKey
	nonces sync.Map
}

type storedKey struct {
	public  wallet.Key
	entropy []byte
}

func newMemoryStore() *memoryStore { return &memoryStore{keys: map[ports.WalletID]storedKey{}} }

func (m *memoryStore) WalletKey(ctx context.Context, w ports.WalletID) (wallet.Key, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.keys[w].public, ctx.Err()
}

func (m *memoryStore) WalletEntropy(ctx context.Context, w ports.WalletID) ([]byte, wallet.Key, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]byte(nil), m.keys[w].entropy...), m.keys[w].public, ctx.Err()
}

func (m *memoryStore) AddWalletKey(ctx context.Context, w ports.WalletID, key wallet.Key, entropy []byte) (wallet.Key, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, exists := m.keys[w]; !exists && ctx.Err() == nil {
		m.keys[w] = storedKey{key, append([]byte(nil), entropy...)}
	}
	return m.keys[w].public, ctx.Err()
}

func (m *memoryStore) FixTransferNonce(_ context.Context, w ports.WalletID, payload [32]byte, nonce uint64, end time.Time) (uint64, error) {
	key := fmt.Sprintf("%v %x", w, payload)
	if noon.Before(end) {
		m.nonces.LoadOrStore(key, nonce)
	}
	fixed, found := m.nonces.Load(key)
	if !found {
		return 0, wallet.ErrTooLate
	}
	return fixed.(uint64), nil
}

// env is a database with two platforms, and a data key.
type env struct {
	url         string
	db          *postgres.DB
	clock       *portstest.FakeClock
	dataKeys    *encryption.DataKeys
	here, there ident.Platform
}

func newEnv(t testing.TB) *env {
	t.Helper()
	e := &env{url: pgtest.New(t), clock: portstest.NewFakeClock(noon)}
	e.db = e.open(t)
	if err := e.dataKeys.Create(t.Context(), uuid.New()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []*ident.Platform{&e.here, &e.there} {
		*id = e.newPlatform(t)
	}
	return e
}

// open opens the database, as a process does, and sets dataKeys.
func (e *env) open(t testing.TB) *postgres.DB {
	t.Helper()
	master, err := encryption.New(make([]byte, encryption.KeyLength))
	if err != nil {
		t.Fatal(err)
	}
	// The time limits of the service are not part of the custody, and calls that create one key wait for each other.
	db, err := postgres.Open(t.Context(), postgres.Options{URL: e.url, AllPlatforms: true, MaxConnections: 8, Clock: e.clock, IDs: generator,
		LockTimeout: time.Minute, IdleTimeout: time.Minute, StatementTimeout: 2 * time.Minute,
		NewCipher: func(store ports.DataKeyStore) ports.Cipher {
			e.dataKeys = encryption.NewDataKeys(store, master, e.clock)
			return e.dataKeys
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

func (e *env) newPlatform(t testing.TB) ident.Platform {
	t.Helper()
	p := portstest.SandboxPlatform(t, generator, noon)
	portstest.MustDo(t, e.db, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreatePlatform(ctx, p) })
	return p.ID
}

// newWallets implements portstest.NewWallets.
func (e *env) newWallets(t *testing.T) (one, other, elsewhere ports.WalletID) {
	t.Helper()
	account := ident.NewInternalAccount(generator.New, noon)
	return e.newWallet(t, e.here, account), e.newWallet(t, e.here, ident.NewInternalAccount(generator.New, noon)),
		e.newWallet(t, e.there, account)
}

// newWallet creates an embedded wallet of a new customer.
func (e *env) newWallet(t testing.TB, p ident.Platform, id ident.InternalAccount) ports.WalletID {
	t.Helper()
	customer := portstest.ApprovedCustomer(generator, noon, p, uuid.NewString())
	portstest.MustDo(t, e.db, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreateCustomer(ctx, customer); err != nil {
			return err
		}
		internal, err := account.NewInternal(id, p, customer.ID, money.USDB, noon)
		if err != nil {
			return err
		}
		return tx.OpenInternalAccounts(ctx, []account.Internal{internal})
	})
	return ports.WalletID{Platform: p, Account: id}
}

func TestCustody_ProcessesAgreeOnAKey(t *testing.T) {
	t.Parallel()
	// Two processes that use a wallet for the first time at the same moment, again and again, sign with one
	// key.
	env := newEnv(t)
	other := local.New(env.open(t))
	for range 10 {
		w := env.newWallet(t, env.here, ident.NewInternalAccount(generator.New, noon))
		keys := make([]wallet.Key, 8)
		var running sync.WaitGroup
		for i := range keys {
			custody := []*local.Custody{local.New(env.db), other}[i%2]
			running.Go(func() {
				certificate, err := custody.Sign(t.Context(), w, "a statement")
				if err != nil {
					t.Error(err)
				}
				keys[i] = certificate.Key
			})
		}
		running.Wait()
		for _, key := range keys {
			if key != keys[0] {
				t.Fatalf("the wallet has the keys %x and %x", keys[0], key)
			}
		}
	}
}

func TestCustody_SignsDuringKeyRotation(t *testing.T) {
	t.Parallel()
	// While the data key is replaced, every signature succeeds with the same key.
	env := newEnv(t)
	custody := local.New(env.db)
	w := env.newWallet(t, env.here, ident.NewInternalAccount(generator.New, noon))
	want, err := custody.WalletKey(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	rotated := make(chan struct{})
	for range 3 {
		running.Go(func() {
			for {
				certificate, err := custody.Sign(t.Context(), w, "a statement")
				if err != nil || certificate.Key != want {
					t.Errorf("signed with %x, %v", certificate.Key, err)
				}
				select {
				case <-rotated:
					return
				default:
				}
			}
		})
	}

	for range 5 {
		env.rotate(t)
	}
	close(rotated)
	running.Wait()
}
