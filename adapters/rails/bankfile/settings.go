package bankfile

import (
	"maps"
	"net"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"causeway/core/corridor"
	"causeway/core/formats/nacha"
	"causeway/core/rail"
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
	holder, iban, bic, bankName, bankAddress             string
	routingNumber, accountNumber                         string
	customerID, customerScheme                           string
	settlesOn                                            map[corridor.Rail]settlesOn
	settleDays                                           int
	movements                                            movements
	receiptRail                                          corridor.Rail
	returnDays                                           int
	achDestination, achDestinationName, achOrigin        string
	achOriginName, achCompanyID, achCompanyName, achODFI string
	achDescription                                       string
	achDebits                                            nacha.Class // of consumers
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

// none is an archive that leaves files where the bank has put them, and a temporarySuffix that is empty.
const none = "none"

// Defaults and bounds of settings.
const (
	defaultStableFor   = 10 * time.Second
	defaultCutEvery    = time.Minute
	defaultCutEveryACH = time.Hour // the files of a day are few
	defaultMaxPayments = 10_000    // a file is uploaded within one poll
	maxMaxPayments     = 100_000
	defaultReturnDays  = 60
	defaultSettleDays  = 3
	defaultMaxFile     = 512 << 20
)

// parseSettings checks the settings of a connection, and returns INVALID_INPUT with every bad one.
func parseSettings(c rail.Connection) (settings, error) {
	r := rail.ReadSettings(c)
	s := settings{
		folder: r.Text("folder", ""), address: r.Text("sftpAddress", ""), user: r.Text("sftpUser", ""), base: r.Text("sftpFolder", ""),
		hostKey:  r.Text("sftpHostKey", ""),
		password: r.Reference("sftpPassword"), privateKey: r.Reference("sftpPrivateKey"), passphrase: r.Reference("sftpPassphrase"),
		timeout:  r.Duration("timeout", 20*time.Second, time.Second, 2*time.Minute),
		outgoing: r.Text("outgoing", "out"), incoming: r.Text("incoming", "in"), archive: r.Text("archive", "archive"),
		temporarySuffix: r.Text("temporarySuffix", ".tmp"), markerSuffix: r.Text("markerSuffix", ""),
		fileName:    r.Text("fileName", "{connection}-{number}.{extension}"),
		ignored:     r.List("ignored", ".tmp,.part,.filepart,.partial"),
		stableFor:   r.Duration("stableFor", defaultStableFor, 0, time.Hour),
		cutEvery:    r.Duration("cutEvery", defaultCutEveryOf(c), 0, 24*time.Hour),
		maxPayments: int(r.Number("maxPayments", defaultMaxPayments, 1, maxMaxPayments)),
		holder:      r.Required("accountHolder", "the name of the account, as the bank has it"),
		iban:        r.Text("iban", ""), bic: r.Text("bic", ""), bankName: r.Required("bankName", "the name of the bank"),
		bankAddress:   r.Text("bankAddress", ""),
		routingNumber: r.Text("routingNumber", ""), accountNumber: r.Text("accountNumber", ""),
		customerID: r.Text("customerId", ""), customerScheme: r.Text("customerIdScheme", ""),
		settleDays: int(r.Number("settleDays", defaultSettleDays, 0, 30)),
		movements:  movements(r.Text("movements", string(fromNotifications))), receiptRail: corridor.Rail(r.Text("receiptRail", "")),
		returnDays:   int(r.Number("returnDays", defaultReturnDays, 1, 400)),
		maxFileBytes: r.Number("maxFileBytes", defaultMaxFile, 1<<10, 4<<30),
	}
	s.temporary = r.Text("temporaryFolder", s.outgoing)
	if s.temporarySuffix == none {
		s.temporarySuffix = ""
	}
	s.readTimes(r, c)
	s.readSettlement(r, c)
	s.readACH(r, c)
	s.check(r, c)
	return s, r.Err()
}

// readSettlement reads what settles the payments of each rail: settlesOn.RAIL, or settlesOn for all that have none.
func (s *settings) readSettlement(r *rail.SettingReader, c rail.Connection) {
	read := func(name string, value settlesOn) settlesOn {
		if !slices.Contains([]settlesOn{settlesOnStatus, settlesOnBooking, settlesOnDays}, value) {
			r.Refuse(name, "must be STATUS, BOOKING or DAYS")
		}
		return value
	}
	own, all := r.Prefixed("settlesOn."), r.Text("settlesOn", "")
	s.settlesOn = map[corridor.Rail]settlesOn{}
	for _, on := range c.Rails {
		value, given := own[string(on)]
		delete(own, string(on))
		switch {
		case given:
			s.settlesOn[on] = read("settlesOn."+string(on), settlesOn(value))
		case all != "":
			s.settlesOn[on] = read("settlesOn", settlesOn(all))
		case on == corridor.ACH: // banks send no status of what has settled
			s.settlesOn[on] = settlesOnDays
		default:
			s.settlesOn[on] = settlesOnStatus
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		r.Refuse("settlesOn."+name, "must end with a rail of the connection")
	}
}

// settledBy returns the rails whose payments are settled by something, in order.
func (s settings) settledBy(what settlesOn) []corridor.Rail {
	rails := []corridor.Rail{}
	for _, on := range slices.Sorted(maps.Keys(s.settlesOn)) {
		if s.settlesOn[on] == what {
			rails = append(rails, on)
		}
	}
	return rails
}

func (s *settings) readTimes(r *rail.SettingReader, c rail.Connection) {
	for _, text := range r.List("cutAt", "") {
		at, err := time.Parse("15:04", text)
		if err != nil {
			r.Refuse("cutAt", "must be times of day such as 10:00,15:30")
			continue
		}
		s.cutAt = append(s.cutAt, time.Duration(at.Hour())*time.Hour+time.Duration(at.Minute())*time.Minute)
	}
	slices.Sort(s.cutAt)
	if len(s.cutAt) > 0 && c.Settings["cutEvery"] != "" {
		r.Refuse("cutAt", "cannot be given with cutEvery: a connection has one of them")
	}
	var err error
	if s.zone, err = time.LoadLocation(r.Text("zone", c.ScheduleOf(firstRail(c)).Zone)); err != nil {
		r.Refuse("zone", "must be a time zone such as Europe/Berlin")
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

func (s *settings) readACH(r *rail.SettingReader, c rail.Connection) {
	carries := slices.Contains(c.Rails, corridor.ACH)
	read := func(name, otherwise, what string) string {
		value := r.Text(name, otherwise)
		if carries && value == "" {
			r.Refuse(name, "must be given for ACH: %s", what)
		}
		return value
	}
	s.achDestination = read("achDestination", s.routingNumber, "the routing number of the bank that takes the files")
	s.achDestinationName = read("achDestinationName", s.bankName, "the name of that bank")
	s.achOrigin = read("achOrigin", "", "the number that the bank has given to you as the origin of files")
	s.achOriginName = read("achOriginName", s.holder, "your name in the files")
	s.achCompanyID = read("achCompanyId", "", "the number that the bank has given to you as the company")
	s.achCompanyName = read("achCompanyName", s.holder, "your name as the other side sees it")
	if carries && !nacha.IsCompanyName(s.achCompanyName) && s.achCompanyName != "" {
		r.Refuse("achCompanyName", "must be given for ACH, in at most %d characters of ASCII: %q cannot be your name as the other side sees it",
			nacha.MaxCompanyName, s.achCompanyName)
	}
	s.achODFI = read("achOdfi", s.routingNumber, "the routing number of the bank that originates the payments")
	s.achDebits = nacha.Class(r.Text("achDebits", string(nacha.WEB)))
	if s.achDebits != nacha.WEB && s.achDebits != nacha.PPD {
		r.Refuse("achDebits", "must be WEB if consumers authorize debits on the internet, or PPD if on paper")
	}
	s.achDescription = read("achDescription", "PAYMENT", "what the other side sees of the purpose, at most 10 characters")
}

// supportedRails are those for which files are written.
var supportedRails = []corridor.Rail{corridor.SEPA, corridor.SEPAInstant, corridor.Wire, corridor.SWIFT, corridor.ACH}

func (s *settings) check(r *rail.SettingReader, c rail.Connection) {
	for _, one := range c.Rails {
		if !slices.Contains(supportedRails, one) {
			r.RefuseField("rails", "%s takes no %s: it takes %v", rail.BankFile, one, supportedRails)
		}
	}
	s.checkTransport(r)
	for name, folder := range map[string]string{"outgoing": s.outgoing, "temporaryFolder": s.temporary, "incoming": s.incoming,
		"archive": s.archive} {
		if folder == "" || path.Clean(folder) != folder || strings.HasPrefix(folder, "..") || path.IsAbs(folder) && s.folder != "" {
			r.Refuse(name, "must be the path of a folder, such as out, within folder or sftpFolder")
		}
	}
	if s.archive == s.incoming || s.incoming == s.outgoing || s.incoming == s.temporary {
		r.Refuse("incoming", "must be another folder than outgoing, temporaryFolder and archive")
	}
	if s.temporary == s.outgoing && s.temporarySuffix == "" {
		r.Refuse("temporarySuffix", "must be given, or a temporaryFolder: the bank must not take a file that is not complete")
	}
	name := s.nameOf(c.Name, "", "", time.Time{}, "1")
	if !strings.Contains(s.fileName, "{number}") || strings.ContainsAny(name, "/\\{}\x00") {
		r.Refuse("fileName", "must contain {number} and no slash; {connection}, {date}, {rail}, {currency} and {extension} are replaced too")
	}
	if s.iban == "" && s.accountNumber == "" {
		r.Refuse("iban", "must be given, or routingNumber and accountNumber")
	}
	if s.iban == "" && s.routingNumber == "" {
		r.Refuse("routingNumber", "must be given with accountNumber")
	}
	if s.movements != fromNotifications && s.movements != fromStatements {
		r.Refuse("movements", "must be CAMT054 or CAMT053")
	}
	if !slices.Contains(c.Rails, s.receiptRail) {
		r.Refuse("receiptRail", "must be one of the rails of the connection")
	}
}

func (s *settings) checkTransport(r *rail.SettingReader) {
	switch {
	case s.folder == "" && s.address == "":
		r.Refuse("folder", "must be given, or sftpAddress")
	case s.folder != "" && s.address != "":
		r.Refuse("folder", "cannot be given with sftpAddress: a connection has one of them")
	case s.folder != "":
		if !filepath.IsAbs(s.folder) {
			r.Refuse("folder", "must be an absolute path")
		}
		return
	}
	if _, _, err := net.SplitHostPort(s.address); err != nil && s.address != "" {
		r.Refuse("sftpAddress", "must be host:port, such as sftp.bank.example:22")
	}
	if s.user == "" {
		r.Refuse("sftpUser", "must be given")
	}
	if s.hostKey == "" {
		r.Refuse("sftpHostKey", "must be given: the fingerprint of the server that the bank has published, as SHA256:…")
	}
	if s.password == "" && s.privateKey == "" {
		r.Refuse("sftpPrivateKey", "must be given, or sftpPassword")
	}
}
