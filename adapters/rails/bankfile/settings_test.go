package bankfile_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"causeway/adapters/rails/bankfile"
	"causeway/adapters/rails/bankfile/transport/sftptest"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports/portstest"
)

// badFields opens a connection and returns the fields that it refuses.
func (d database) badFields(t testing.TB, c rail.Connection) []string {
	t.Helper()
	a, err := bankfile.Open(bankfile.Config{Connection: c, Store: d.Store, Secrets: portstest.Secrets{}, Clock: d.clock, IDs: d.ids,
		Log: testLog(t)})
	if err == nil {
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		return nil
	}
	failure, is := fault.As(err)
	if !is {
		t.Fatal(err)
	}
	var names []string
	for _, f := range failure.Fields {
		names = append(names, f.Field+": "+f.Message)
	}
	return names
}

func TestOpen_RefusesBadSettings(t *testing.T) {
	t.Parallel()
	// Every bad setting is named with what to do, also those that no file could carry.
	d, dir := openDatabase(t), makeFolders(t)
	for want, change := range map[string]func(*rail.Connection){
		"settings.accountHolder: must be given":          func(c *rail.Connection) { delete(c.Settings, "accountHolder") },
		"settings.archive: must be the path of a folder": func(c *rail.Connection) { c.Settings["archive"] = "../archive" },
		"settings.colour: is no setting of BANK_FILE":    func(c *rail.Connection) { c.Settings["colour"] = "red" },
		"settings.cutAt: cannot be given with cutEvery": func(c *rail.Connection) {
			c.Settings["cutAt"], c.Settings["cutEvery"] = "10:00",
				"1h"
		},
		"settings.cutAt: must be times of day":            func(c *rail.Connection) { c.Settings["cutAt"] = "10 am" },
		"settings.cutEvery: must be a duration":           func(c *rail.Connection) { c.Settings["cutEvery"] = "25h" },
		"settings.fileName: must contain {number}":        func(c *rail.Connection) { c.Settings["fileName"] = "payments.xml" },
		"settings.fileName: must contain {number} and no": func(c *rail.Connection) { c.Settings["fileName"] = "{number}-{day}" },
		"settings.folder: must be an absolute path":       func(c *rail.Connection) { c.Settings["folder"] = "bank" },
		"settings.folder: must be a folder that exists":   func(c *rail.Connection) { c.Settings["folder"] = "/no/such/folder" },
		"settings.folder: cannot be given with sftpAddre": func(c *rail.Connection) { c.Settings["sftpAddress"] = "bank.example:22" },
		"settings.iban: must be given":                    func(c *rail.Connection) { delete(c.Settings, "iban") },
		"settings.incoming: must be another folder":       func(c *rail.Connection) { c.Settings["incoming"] = "out" },
		"settings.maxPayments: must be a whole number":    func(c *rail.Connection) { c.Settings["maxPayments"] = "0" },
		"settings.movements: must be CAMT054 or CAMT053":  func(c *rail.Connection) { c.Settings["movements"] = "MT940" },
		"settings.receiptRail: must be one of the rails":  func(c *rail.Connection) { c.Settings["receiptRail"] = "ACH" },
		"settings.settlesOn.SEPA: must be STATUS":         func(c *rail.Connection) { c.Settings["settlesOn.SEPA"] = "NEVER" },
		"settings.settlesOn.ACH: must end with a rail":    func(c *rail.Connection) { c.Settings["settlesOn.ACH"] = "DAYS" },
		"settings.settlesOn: must be STATUS, BOOKING or":  func(c *rail.Connection) { c.Settings["settlesOn"] = "NEVER" },
		"settings.sftpHostKey: must be given": func(c *rail.Connection) {
			delete(c.Settings, "folder")
			c.Settings["sftpAddress"] = "bank.example:22"
		},
		"settings.sftpPassword: must be a reference": func(c *rail.Connection) { c.Settings["sftpPassword"] = "hunter2" },
		"settings.temporarySuffix: must be given":    func(c *rail.Connection) { c.Settings["temporarySuffix"] = "none" },
		"settings.zone: must be a time zone":         func(c *rail.Connection) { c.Settings["zone"] = "Berlin" },
		"settings.achCompanyName: must be given for ACH, in at most 16": func(c *rail.Connection) {
			c.Rails, c.Settings["accountHolder"] = append(c.Rails, corridor.ACH), "Example Client Money"
		},
		"settings.achOrigin: must be given for ACH": func(c *rail.Connection) { c.Rails = append(c.Rails, corridor.ACH) },
		"rails: BANK_FILE takes no RTP":             func(c *rail.Connection) { c.Rails = append(c.Rails, "RTP") },
		"SEPA in EUR that banks refuse: block":      func(c *rail.Connection) { c.Settings["iban"] = "DE89370400440532013001" },
		"SEPA in EUR that banks refuse: the scheme": func(c *rail.Connection) { c.Settings["customerIdScheme"] = "bank" },
		"WIRE in USDC that banks refuse": func(c *rail.Connection) {
			c.Rails, c.Currencies = []corridor.Rail{corridor.Wire}, []money.Currency{"USDC"}
		},
	} {
		c := europe("settings", dir)
		change(&c)
		if bad := d.badFields(t, c); !slices.ContainsFunc(bad, func(f string) bool { return strings.Contains(f, want) }) {
			t.Errorf("%s: %s", want, strings.Join(bad, "; "))
		} else if strings.Contains(strings.Join(bad, " "), "hunter2") {
			t.Errorf("%s contains the secret", bad)
		}
	}
	for _, connect := range []func(name, folder string) rail.Connection{europe, america} {
		if bad := d.badFields(t, connect("settings", dir)); len(bad) > 0 {
			t.Error(bad)
		}
	}
	c := america("settings", dir)
	for name, value := range map[string]string{"achDebits": "TEL", "achDestination": "121042883", "achCompanyName": strings.Repeat("x", 17)} {
		bad := c
		bad.Settings = map[string]string{}
		for n, v := range c.Settings {
			bad.Settings[n] = v
		}
		bad.Settings[name] = value
		if fields := d.badFields(t, bad); len(fields) != 1 || !strings.HasPrefix(fields[0], "settings") {
			t.Errorf("%s: %v", name, fields)
		}
	}
}

func TestAdapter_Test(t *testing.T) {
	t.Parallel()
	// An operator sees what works, and the first thing that does not; nothing is left behind.
	d, server := openDatabase(t), sftptest.Start(t)
	for _, remote := range []bool{false, true} {
		dir := makeFolders(t)
		connection := europe("tested", dir)
		if remote {
			delete(connection.Settings, "folder")
			for name, value := range map[string]string{"sftpAddress": server.Address, "sftpUser": server.User, "sftpFolder": dir,
				"sftpHostKey": server.Fingerprint, "sftpPrivateKey": "file:/key"} {
				connection.Settings[name] = value
			}
		}
		a, err := bankfile.Open(bankfile.Config{Connection: connection, Store: d.Store,
			Secrets: portstest.Secrets{"file:/key": string(server.PrivateKey)},
			Clock:   d.clock, IDs: d.ids, Log: testLog(t)})
		if err != nil {
			t.Fatal(err)
		}

		checked, err := a.Test(t.Context())

		if text := strings.Join(checked, "\n"); err != nil || strings.Count(text, "can be listed") != 3 ||
			strings.Count(text, "can be written") != 2 || strings.Contains(text, "host key") != remote {
			t.Errorf("%s, %v", text, err)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "*", "*")); err != nil || len(left) > 0 {
			t.Errorf("left %v, %v", left, err)
		}
		if err := os.Remove(filepath.Join(dir, "in")); err != nil {
			t.Fatal(err)
		}
		if checked, err := a.Test(t.Context()); err == nil || !strings.Contains(err.Error(), `folder "in": it does not exist`) ||
			len(checked) == 0 {
			t.Errorf("without a folder: %v, %v", checked, err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}
