package conformance_test

import (
	"strings"
	"testing"
	"time"

	"causeway/adapters/rails/partner/conformance"
	"causeway/adapters/rails/partner/partnertest"
)

func TestSMS_FindsEachFault(t *testing.T) {
	t.Parallel()
	// A provider that follows the contract passes, and each fault breaks the rules that name it.
	runSMS := func(t *testing.T, fault partnertest.SMSFault) (broken []string, all int) {
		t.Helper()
		return runProvider(t, &partnertest.SMSProvider{Secrets: parsedSecret(t), Now: time.Now, Fault: fault}, fault == partnertest.SMSSlow,
			conformance.NewSMS)
	}
	if broken, all := runSMS(t, ""); len(broken) > 0 || all != 13 {
		t.Errorf("without a fault %v of %d rules are broken", broken, all)
	}
	const everything = "accept refuse again conflict"
	want := map[partnertest.SMSFault]string{
		partnertest.SMSUnsigned: "unsigned changed old", partnertest.SMSOld: "old",
		partnertest.SMSAllAccepted: "refuse busy no-number expired", partnertest.SMSNoCode: "refuse again expired in-time",
		partnertest.SMSNumberShown: "refuse again expired in-time", partnertest.SMSIDsOnly: "conflict", partnertest.SMSSlow: "in-time",
		partnertest.SMSOtherID: everything + " expired in-time", partnertest.SMSUnknown: everything + " expired in-time",
	}
	for _, fault := range partnertest.SMSFaults() {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			broken, _ := runSMS(t, fault)
			if len(broken) == 0 || want[fault] != "" && strings.Join(broken, " ") != want[fault] {
				t.Errorf("breaks %v, want %s", broken, want[fault])
			}
		})
	}
}
