package main

import (
	"testing"

	"causeway/core/platform"
)

func TestLNURL_OffUnlessThePlatformWantsIt(t *testing.T) {
	t.Parallel()
	// Nobody is paid by Lightning address, of whose payers nothing is known, unless the platform has switched that on. A payment by UMA
	// needs nothing of the kind.
	ana, bo := newUMASides(t, func(p *platform.Platform) { p.Currencies[0].RequiredCounterpartyFields = nil })
	for _, path := range []string{"/.well-known/lnurlp/bo", "/uma/lnurlp/bo?amount=1000000"} {
		if status, body := bo.getJSON("http://pay.test" + path); status != 404 || body["code"] != "USER_NOT_FOUND" {
			t.Errorf("%s: %d %v", path, status, body)
		}
	}
	if len(ana.lookUp(bo).Currencies) == 0 || len(bo.incoming()) != 0 {
		t.Errorf("%+v", bo.incoming())
	}
}
