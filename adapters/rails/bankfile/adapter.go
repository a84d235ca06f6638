// Package bankfile is the rail of banks that take and send files: pain.001 and Nacha files out; pain.002, camt.054,
// camt.053 and Nacha returns in, over a folder or SFTP.
//
// A payment is first an order in the store. Poll, under a lease, cuts files of queued orders, delivers each exactly once,
// and reads what the bank has put down. What the bank said about an order is kept with it, and all calls answer from there.
package bankfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"causeway/adapters/rails/bankfile/transport"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/rail"
	"causeway/core/settlement"
	"causeway/ports"
)

// Config is what the adapter of a connection needs.
type Config struct {
	Connection rail.Connection
	Store      *Store
	Secrets    ports.Secrets
	Clock      ports.Clock
	IDs        ports.IDs
	Log        logrus.FieldLogger
	// Transport replaces that of the settings, in tests; nil otherwise.
	Transport transport.Transport
}

// Adapter is the adapter of one connection.
type Adapter struct {
	connection rail.Connection
	settings   settings
	store      *Store
	clock      ports.Clock
	log        logrus.FieldLogger
	transport  transport.Transport
	timetable  *settlement.Timetable
	zones      map[corridor.Rail]*time.Location // of the schedules
	process    uuid.UUID                        // in the names of test files
	readTime   time.Duration

	mu      sync.Mutex  // held during Poll and Close
	held    ports.Lease // the latest on the files; zero if another process has it
	seen    map[string]sighting
	reading *reading // nil if no file of the bank is open
	// aside are files that were given up without being opened, and givenUp is why this process has given up those that were,
	// by their keys.
	aside             []ports.RawReport
	givenUp           map[string]string
	problems          map[int64]string // of files that were given up, by their numbers, until that is recorded
	sending, incoming pace
}

var (
	_ ports.ConnectedRail   = (*Adapter)(nil)
	_ ports.RailFeed        = (*Adapter)(nil)
	_ ports.RawReportReader = (*Adapter)(nil)
	_ ports.ExclusiveRail   = (*Adapter)(nil)
)

// Open checks the settings of a connection and returns its adapter. It does not call the bank.
func Open(c Config) (*Adapter, error) {
	parsed, err := parseSettings(c.Connection)
	if err != nil {
		return nil, err
	}
	timetable, err := c.Connection.Timetable(time.LoadLocation)
	if err != nil {
		return nil, err
	}
	zones := map[corridor.Rail]*time.Location{}
	for _, r := range c.Connection.Rails {
		if zones[r], err = time.LoadLocation(c.Connection.ScheduleOf(r).Zone); err != nil {
			return nil, err
		}
	}
	a := &Adapter{connection: c.Connection, settings: parsed, store: c.Store, clock: c.Clock, transport: c.Transport,
		timetable: timetable, zones: zones,
		log: c.Log.WithField("connection", c.Connection.Name), process: c.IDs.New(c.Clock.Now()), seen: map[string]sighting{},
		givenUp: map[string]string{}, problems: map[int64]string{}, readTime: maxReadTime}
	if err := a.checkFormats(c.Clock.Now()); err != nil {
		return nil, err
	}
	if a.transport != nil {
		return a, nil
	}
	if parsed.folder != "" {
		if a.transport, err = transport.OpenFolder(parsed.folder); err != nil {
			err = fault.Invalid(fault.Field{Field: "settings.folder", Message: fmt.Sprintf("must be a folder that exists, and that the service "+
				"can enter: %v", err)})
		}
	} else {
		a.transport, err = transport.NewSFTP(transport.SFTPConfig{Address: parsed.address, User: parsed.user, Base: parsed.base,
			HostKeys: parsed.hostKey,
			Timeout:  parsed.timeout, Login: func(ctx context.Context) (transport.Login, error) { return parsed.login(ctx, c.Secrets) }})
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// login reads what the server asks for.
func (s settings) login(ctx context.Context, secrets ports.Secrets) (login transport.Login, err error) {
	read := func(reference string) []byte {
		if reference == "" || err != nil {
			return nil
		}
		var secret []byte
		secret, err = secrets.Secret(ctx, reference)
		return secret
	}
	login.Password, login.PrivateKey, login.Passphrase = read(s.password), read(s.privateKey), read(s.passphrase)
	return login, err
}

// Exclusive implements ports.ExclusiveRail: each of two connections would take the files of the other, or those of one
// account twice. Files that stay where the bank has put them are read by the connections of several accounts.
func (a *Adapter) Exclusive() []string {
	s := a.settings
	number := "the account " + strings.ToUpper(strings.ReplaceAll(s.iban, " ", ""))
	if s.iban == "" {
		number = fmt.Sprintf("the account %s at %s", s.accountNumber, s.routingNumber)
	}
	folder := "the folder " + path.Join(s.folder, s.incoming)
	if s.folder == "" {
		folder = fmt.Sprintf("the folder %s of %s at %s", path.Join(s.base, s.incoming), s.user, strings.ToLower(s.address))
	}
	if s.archive == none {
		folder = rail.ExclusivePart(folder, number)
	}
	taken := []string{folder}
	for _, currency := range a.connection.Currencies {
		taken = append(taken, fmt.Sprintf("%s in %s", number, currency))
	}
	return taken
}

// closeTimeout bounds how long the lease is given back.
const closeTimeout = 3 * time.Second

// Close implements ports.ConnectedRail. The lease is given back, so that another process need not wait for its end.
func (a *Adapter) Close() error {
	err := a.transport.Close() // ends what Poll does
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closeReading()
	if a.held.Fence == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(ports.ForAllPlatforms(context.Background()), closeTimeout)
	defer cancel()
	if failed := a.store.Release(ctx, a.held); failed != nil && !errors.Is(failed, ports.ErrLeaseLost) {
		a.log.WithError(failed).Warn("cannot give the lease on the files of the bank back; it ends by itself")
	}
	return err
}

// Test implements ports.RailTester.
func (a *Adapter) Test(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	var checked []string
	done := func(format string, args ...any) { checked = append(checked, fmt.Sprintf(format, args...)) }
	s := a.settings
	folders := []string{s.outgoing, s.incoming}
	if s.temporary != s.outgoing {
		folders = append(folders, s.temporary)
	}
	if s.archive != none {
		folders = append(folders, s.archive)
	}
	for i, folder := range folders {
		files, err := a.transport.List(ctx, folder, maxFolderFiles)
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("it does not exist: make it, or correct the setting")
		}
		if err != nil {
			return checked, fmt.Errorf("folder %q: %w", folder, err)
		}
		if i == 0 && s.address != "" {
			done("logged in to %s as %s; the host key is the pinned one", s.address, s.user)
		}
		done("folder %q can be listed; it has %d files", folder, len(files))
	}
	writable := map[string]string{s.temporary: s.outgoing}
	if s.archive != none {
		writable[s.archive] = s.archive
	}
	for from, to := range writable {
		if err := a.testWritable(ctx, from, to); err != nil {
			return checked, fmt.Errorf("write to folder %q: %w", from, err)
		}
		done("a file can be written to %q and renamed to %q", from, to)
	}
	return checked, nil
}

const (
	testTimeout = time.Minute
	// maxFolderFiles is how many files of a folder are looked at.
	maxFolderFiles = 10_000
)

// testWritable writes, renames and removes a file that the bank takes for one that is not complete.
func (a *Adapter) testWritable(ctx context.Context, from, to string) error {
	suffix := a.settings.temporarySuffix
	if suffix == "" {
		suffix = ".tmp"
	}
	name := "test-" + a.process.String()
	first, err := transport.Join(from, name+suffix)
	if err != nil {
		return err
	}
	second, err := transport.Join(to, name+"-renamed"+suffix)
	if err != nil {
		return err
	}
	if _, err := a.transport.Create(ctx, first, strings.NewReader("test\n")); err != nil {
		return err
	}
	if err := a.transport.Rename(ctx, first, second); err != nil {
		return errors.Join(err, a.transport.Remove(ctx, first))
	}
	return a.transport.Remove(ctx, second)
}
