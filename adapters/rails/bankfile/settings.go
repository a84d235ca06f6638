package bankfile

import (
	"fmt"
	"maps"
	"net"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"causeway/adapters/rails/bankfile/nacha"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/rail"
	"causeway/core/settlement"
)

// settings are those of a connection, checked.
type settings struct {
	folder                                               string
	address, user, base, hostKey                         string
	password, privateKey, passphrase                     string // references
	timeout                                              time.Duration
	outgoing, temporary, incoming, archive               string
	temporarySuffix, markerSuffix, fileName              string
	ignored                                              []string
	stableFor                                            time.Duration
	cutEvery                                             time.Duration
	cutAt                                                []time.Duration // of the day, ascending
	maxPayments                                          int
	zone                                                 *time.Location
	holder, iban, bic, bankName                          string
	routingNumber, accountNumber                         string
	customerID, customerScheme                           string
	settlesOn                                            settlesOn
	settleDays                                           int
	movements                                            movements
	receiptRail                                          corridor.Rail
	returnDays                                           int
	achDestination, achDestinationName, achOrigin        string
	achOriginName, achCompanyID, achCompanyName, achODFI string
	achDescription                                       string
	achDebits                                            nacha.Class // of consumers
	cutOff                                               string      // of the bank
	maxFileBytes                                         int64
}

// settlesOn is what settles a payment.
type settlesOn string

const (
	settlesOnStatus  settlesOn = "STATUS"  // ACSC in a pain.002
	settlesOnBooking settlesOn = "BOOKING" // its debit on the account
	settlesOnDays    settlesOn = "DAYS"    // business days without a return
)

// movements says which files report what has moved on the account: a bank that sends both reports everything twice.
type movements string

const (
	fromNotifications movements = "CAMT054"
	fromStatements    movements = "CAMT053"
)

// noArchive leaves files where the bank has put them.
const noArchive = "none"

// Defaults and bounds of settings.
const (
	defaultStableFor   = 10 * time.Second
	defaultCutEvery    = time.Minute
	defaultCutEveryACH = time.Hour // the files of a day are few
	defaultMaxPayments = 50_000
	maxMaxPayments     = 100_000
	defaultReturnDays  = 60
	defaultSettleDays  = 3
	defaultMaxFile     = 512 << 20
)

// settingReader reads settings one by one, and knows which are left.
type settingReader struct {
	values map[string]string
	bad    []fault.Field
}

func (r *settingReader) refuse(name, format string, args ...any) {
	r.bad = append(r.bad, fault.Field{Field: "settings." + name, Message: fmt.Sprintf(format, args...)})
}

// text returns a setting, and the default without one.
func (r *settingReader) text(name, otherwise string) string {
	value, given := r.values[name]
	delete(r.values, name)
	if !given {
		return otherwise
	}
	return value
}

func (r *settingReader) required(name, what string) string {
	value := r.text(name, "")
	if value == "" {
		r.refuse(name, "must be given: %s", what)
	}
	return value
}

// reference returns a setting that refers to a secret.
func (r *settingReader) reference(name string) string {
	value := r.text(name, "")
	if value != "" && !rail.IsSecretReference(value) {
		r.refuse(name, "must be a reference to a secret: file:/path or env:NAME")
	}
	return value
}

func (r *settingReader) duration(name string, otherwise, from, to time.Duration) time.Duration {
	text := r.text(name, "")
	if text == "" {
		return otherwise
	}
	value, err := time.ParseDuration(text)
	if err != nil || value < from || value > to {
		r.refuse(name, "must be a duration from %s to %s", from, to)
	}
	return value
}

func (r *settingReader) number(name string, otherwise, from, to int64) int64 {
	text := r.text(name, "")
	if text == "" {
		return otherwise
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil || value < from || value > to {
		r.refuse(name, "must be a number from %d to %d", from, to)
	}
	return value
}

func (r *settingReader) list(name, otherwise string) []string {
	var items []string
	for item := range strings.SplitSeq(r.text(name, otherwise), ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// parseSettings checks the settings of a connection, and returns INVALID_INPUT with every bad one.
func parseSettings(c rail.Connection) (settings, error) {
	r := &settingReader{values: maps.Clone(c.Settings)}
	s := settings{
		folder: r.text("folder", ""), address: r.text("sftpAddress", ""), user: r.text("sftpUser", ""), base: r.text("sftpFolder", ""), hostKey: r.text("sftpHostKey", ""),
		password: r.reference("sftpPassword"), privateKey: r.reference("sftpPrivateKey"), passphrase: r.reference("sftpPassphrase"),
		timeout:  r.duration("timeout", 20*time.Second, time.Second, 2*time.Minute),
		outgoing: r.text("outgoing", "out"), incoming: r.text("incoming", "in"), archive: r.text("archive", "archive"),
		temporarySuffix: r.text("temporarySuffix", ".tmp"), markerSuffix: r.text("markerSuffix", ""), fileName: r.text("fileName", "{connection}-{number}.{extension}"),
		ignored:   r.list("ignored", ".tmp,.part,.filepart,.partial"),
		stableFor: r.duration("stableFor", defaultStableFor, 0, time.Hour),
		cutEvery:  r.duration("cutEvery", defaultCutEveryOf(c), 0, 24*time.Hour), cutOff: r.text("cutOff", ""), maxPayments: int(r.number("maxPayments", defaultMaxPayments, 1, maxMaxPayments)),
		holder: r.required("accountHolder", "the name of the account, as the bank has it"),
		iban:   r.text("iban", ""), bic: r.text("bic", ""), bankName: r.required("bankName", "the name of the bank"),
		routingNumber: r.text("routingNumber", ""), accountNumber: r.text("accountNumber", ""),
		customerID: r.text("customerId", ""), customerScheme: r.text("customerIdScheme", ""),
		settlesOn: settlesOn(r.text("settlesOn", "")), settleDays: int(r.number("settleDays", defaultSettleDays, 0, 30)),
		movements: movements(r.text("movements", string(fromNotifications))), receiptRail: corridor.Rail(r.text("receiptRail", "")),
		returnDays:   int(r.number("returnDays", defaultReturnDays, 1, 400)),
		maxFileBytes: r.number("maxFileBytes", defaultMaxFile, 1<<10, 4<<30),
	}
	s.temporary = r.text("temporaryFolder", s.outgoing)
	s.readTimes(r, c)
	s.readACH(r, c)
	s.check(r, c)
	for name := range r.values {
		r.refuse(name, "is no setting of %s", rail.BankFile)
	}
	if len(r.bad) > 0 {
		slices.SortFunc(r.bad, func(a, b fault.Field) int { return strings.Compare(a.Field, b.Field) })
		return s, fault.Invalid(r.bad...)
	}
	return s, nil
}

func (s *settings) readTimes(r *settingReader, c rail.Connection) {
	for _, text := range r.list("cutAt", "") {
		at, err := time.Parse("15:04", text)
		if err != nil {
			r.refuse("cutAt", "must be times of day such as 10:00,15:30")
			continue
		}
		s.cutAt = append(s.cutAt, time.Duration(at.Hour())*time.Hour+time.Duration(at.Minute())*time.Minute)
	}
	slices.Sort(s.cutAt)
	if len(s.cutAt) > 0 && c.Settings["cutEvery"] != "" {
		r.refuse("cutAt", "cannot be given with cutEvery: a connection has one of them")
	}
	if _, err := time.Parse("15:04", s.cutOff); s.cutOff != "" && (err != nil || len(s.cutOff) != len("15:04")) {
		r.refuse("cutOff", "must be a time of day such as 15:30")
	}
	var err error
	if s.zone, err = time.LoadLocation(r.text("zone", settlement.DefaultFor(firstRail(c)).Zone)); err != nil {
		r.refuse("zone", "must be a time zone such as Europe/Berlin")
	}
	if s.settlesOn == "" {
		if s.settlesOn = settlesOnStatus; firstRail(c) == corridor.ACH {
			s.settlesOn = settlesOnDays
		}
	}
	if s.receiptRail == "" {
		s.receiptRail = firstRail(c)
	}
}

func defaultCutEveryOf(c rail.Connection) time.Duration {
	if slices.Contains(c.Rails, corridor.ACH) {
		return defaultCutEveryACH
	}
	return defaultCutEvery
}

func firstRail(c rail.Connection) corridor.Rail {
	if len(c.Rails) == 0 {
		return ""
	}
	return c.Rails[0]
}

func (s *settings) readACH(r *settingReader, c rail.Connection) {
	carries := slices.Contains(c.Rails, corridor.ACH)
	read := func(name, otherwise, what string) string {
		value := r.text(name, otherwise)
		if carries && value == "" {
			r.refuse(name, "must be given for ACH: %s", what)
		}
		return value
	}
	s.achDestination = read("achDestination", s.routingNumber, "the routing number of the bank that takes the files")
	s.achDestinationName = read("achDestinationName", s.bankName, "the name of that bank")
	s.achOrigin = read("achOrigin", "", "the number that the bank has given to you as the origin of files")
	s.achOriginName = read("achOriginName", s.holder, "your name in the files")
	s.achCompanyID = read("achCompanyId", "", "the number that the bank has given to you as the company")
	s.achCompanyName = read("achCompanyName", s.holder, "your name as the other side sees it")
	s.achODFI = read("achOdfi", s.routingNumber, "the routing number of the bank that originates the payments")
	s.achDebits = nacha.Class(r.text("achDebits", string(nacha.WEB)))
	if s.achDebits != nacha.WEB && s.achDebits != nacha.PPD {
		r.refuse("achDebits", "must be WEB if consumers authorize debits on the internet, or PPD if on paper")
	}
	s.achDescription = read("achDescription", "PAYMENT", "what the other side sees of the purpose, at most 10 characters")
}

// supportedRails are those for which files are written.
var supportedRails = []corridor.Rail{corridor.SEPA, corridor.SEPAInstant, corridor.Wire, corridor.SWIFT, corridor.ACH}

func (s *settings) check(r *settingReader, c rail.Connection) {
	for _, one := range c.Rails {
		if !slices.Contains(supportedRails, one) {
			r.bad = append(r.bad, fault.Field{Field: "rails", Message: fmt.Sprintf("%s takes no %s: it takes %v", rail.BankFile, one, supportedRails)})
		}
	}
	s.checkTransport(r)
	for name, folder := range map[string]string{"outgoing": s.outgoing, "temporaryFolder": s.temporary, "incoming": s.incoming, "archive": s.archive} {
		if folder == "" || path.Clean(folder) != folder || strings.HasPrefix(folder, "..") || path.IsAbs(folder) && s.folder != "" {
			r.refuse(name, "must be the path of a folder, such as out, within folder or sftpFolder")
		}
	}
	if s.archive == s.incoming || s.incoming == s.outgoing || s.incoming == s.temporary {
		r.refuse("incoming", "must be another folder than outgoing, temporaryFolder and archive")
	}
	if s.temporary == s.outgoing && s.temporarySuffix == "" {
		r.refuse("temporarySuffix", "must be given, or a temporaryFolder: the bank must not take a file that is not complete")
	}
	if name := s.nameOf(c.Name, "", "", time.Time{}, 1); !strings.Contains(s.fileName, "{number}") || strings.ContainsAny(name, "/\\{}\x00") {
		r.refuse("fileName", "must contain {number} and no slash; {connection}, {date}, {rail}, {currency} and {extension} are replaced too")
	}
	if s.iban == "" && s.accountNumber == "" {
		r.refuse("iban", "must be given, or routingNumber and accountNumber")
	}
	if s.iban == "" && s.routingNumber == "" {
		r.refuse("routingNumber", "must be given with accountNumber")
	}
	if !slices.Contains([]settlesOn{settlesOnStatus, settlesOnBooking, settlesOnDays}, s.settlesOn) {
		r.refuse("settlesOn", "must be STATUS, BOOKING or DAYS")
	}
	if s.movements != fromNotifications && s.movements != fromStatements {
		r.refuse("movements", "must be CAMT054 or CAMT053")
	}
	if !slices.Contains(c.Rails, s.receiptRail) {
		r.refuse("receiptRail", "must be one of the rails of the connection")
	}
}

func (s *settings) checkTransport(r *settingReader) {
	switch {
	case s.folder == "" && s.address == "":
		r.refuse("folder", "must be given, or sftpAddress")
	case s.folder != "" && s.address != "":
		r.refuse("folder", "cannot be given with sftpAddress: a connection has one of them")
	case s.folder != "":
		if !filepath.IsAbs(s.folder) {
			r.refuse("folder", "must be an absolute path")
		}
		return
	}
	if _, _, err := net.SplitHostPort(s.address); err != nil && s.address != "" {
		r.refuse("sftpAddress", "must be host:port, such as sftp.bank.example:22")
	}
	if s.user == "" {
		r.refuse("sftpUser", "must be given")
	}
	if s.hostKey == "" {
		r.refuse("sftpHostKey", "must be given: the fingerprint of the server that the bank has published, as SHA256:…")
	}
	if s.password == "" && s.privateKey == "" {
		r.refuse("sftpPrivateKey", "must be given, or sftpPassword")
	}
}
