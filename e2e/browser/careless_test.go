package browser

import (
	"bytes"
	"image"
	"image/png"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// begin creates an individual of a production platform, and opens its link.
func begin(t *testing.T, v view) (p *platform, customer string, b *tab) {
	t.Helper()
	p = startService(t).newPlatform("Acme Pay", "PRODUCTION")
	customer, b = p.newIndividual(), newTab(t, v)
	b.start(p.newLink(customer, nil))
	return p, customer, b
}

// start opens a link and begins.
func (b *tab) start(link string) {
	b.t.Helper()
	b.open(link)
	b.press("form button.primary")
	b.want(b.say("home.change.title"))
}

// setNetwork makes uploads slow, or the network fail; with 0 they are as fast as they can be.
func (b *tab) setNetwork(bytesPerSecond float64, offline bool) {
	b.t.Helper()
	limit := &network.Conditions{DownloadThroughput: -1, UploadThroughput: -1, Offline: offline}
	if bytesPerSecond > 0 {
		limit.UploadThroughput = bytesPerSecond
	}
	if _, err := chromedp.Call(b.ctx, network.EmulateNetworkConditionsByRule,
		network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{limit}}); err != nil {
		b.t.Fatal(err)
	}
}

func TestCareless_RobotsDoNotOpenLinks(t *testing.T) {
	t.Parallel()
	// Programs that look at links in messages, with GET or HEAD, with or without cookies, do not use up a
	// link; nor does a browser that loads it in advance or a second time.
	s := startService(t)
	p := s.newPlatform("Acme Pay", "PRODUCTION")
	link := p.newLink(p.newIndividual(), nil)
	for _, method := range []string{http.MethodHead, http.MethodGet, http.MethodGet} {
		for _, agent := range []string{"WhatsApp/2.23.20.0", "facebookexternalhit/1.1", "Slackbot-LinkExpanding 1.0",
			"Mozilla/5.0 (compatible; SafeLinks)"} {
			r, err := http.NewRequestWithContext(t.Context(), method, link, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("User-Agent", agent)
			r.Header.Set("Sec-Purpose", "prefetch")
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode != http.StatusOK || len(response.Cookies()) > 0 {
				t.Errorf("%s by %s: %d, %d cookies", method, agent, response.StatusCode, len(response.Cookies()))
			}
		}
	}
	b := newTab(t, phone)
	b.open(link)
	b.run(chromedp.Reload())
	b.start(link)
	b.open(link) // again, later
	b.want(b.say("home.change.title"))
	b.wantNoComplaints()
}

func TestCareless_BackAndTwoTabs(t *testing.T) {
	t.Parallel()
	// A person who goes back after submitting, or has the forms open in another tab, sees that it was
	// submitted, and changes nothing.
	p, customer, b := begin(t, phone)
	second := b.newTab()
	b.press(`a[href="/verification/details"]`)
	b.fill(person)
	b.press("form button.primary")
	b.want(b.say("step.done"))
	second.open(p.root + "/verification/details")
	second.wantField("address.city", "Berlin")
	b.press(`a[href="/verification/documents/own"]`)
	b.upload(scan(t), identityDocument("PASSPORT", ""))
	b.press(`main a[href="/verification"]`)
	b.press("form button.primary")
	b.want(b.say("home.waiting.title"))

	for range 2 { // to the form with the button, and the one for documents
		b.back()
		b.want(b.say("home.waiting.title"))
	}
	second.fill(map[string]string{"address.city": "Hamburg"})
	second.pressTo("form button.primary", http.StatusConflict)
	second.want(second.say("error.changed.title"))
	second.check("changed meanwhile")
	second.press(`main a[href="/verification"]`)
	second.want(second.say("home.waiting.title"))
	p.wantValue("/customers/"+customer, "address.city", "Berlin")
	b.wantNoComplaints()
	second.wantNoComplaints(http.StatusConflict)
}

func TestCareless_SessionEndsInTheMiddle(t *testing.T) {
	t.Parallel()
	// What a person entered when the session ended comes back with another link in the same browser, with
	// and without script: of a form when its page is loaded again, and of an upload with its button.
	for name, v := range map[string]view{"script": phone, "no script": desktop} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, customer, b := begin(t, v)
			expire := func() {
				p.exec(`UPDATE kyc_links SET session_expires_at = now() - interval '1 second' WHERE session_hash IS NOT NULL`)
			}
			second := b.newTab()
			b.press(`a[href="/verification/details"]`)
			b.fill(person)
			expire()
			b.pressTo("form button.primary", http.StatusForbidden)
			b.want(b.say("error.ended.title"))
			b.check("ended")

			second.start(p.newLink(customer, nil))
			b.run(chromedp.Reload())
			b.want(b.say("problem.session"))
			b.wantField("birthDate", "1990-12-31")
			b.check("form of an earlier session")
			p.wantValue("/customers/"+customer, "birthDate", "")
			b.press("form button.primary")
			b.want(b.say("step.done"))
			p.wantValue("/customers/"+customer, "birthDate", "1990-12-31")

			b.press(`a[href="/verification/documents/own"]`)
			expire()
			b.uploadRefused(scan(t), identityDocument("PASSPORT", ""), http.StatusForbidden, b.say("error.ended.title"))
			second.start(p.newLink(customer, nil))
			if v.script {
				b.run(b.activate("form button.primary"))
			} else {
				b.run(chromedp.Reload())
			}
			b.want(b.say("problem.session"))
			b.wantField("documentNumber", "C01X00T47")
			b.upload(scan(t), nil)
			b.want("scan.png")
			b.wantNoComplaints(http.StatusForbidden, http.StatusUnprocessableEntity)
		})
	}
}

func TestCareless_Files(t *testing.T) {
	t.Parallel()
	// A photo that is too large, or in a format that is not accepted, is refused with what to do, and what
	// else was entered stays. The next one is accepted.
	for name, v := range map[string]view{"script": phone, "no script": desktop} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, b := begin(t, v)
			b.press(`a[href="/verification/documents/own"]`)
			photo := append([]byte("\xff\xd8\xff\xe0"), make([]byte, 11_000_000)...)
			b.uploadRefused(write(t, "IMG_0001.jpg", photo), identityDocument("PASSPORT", ""), http.StatusRequestEntityTooLarge,
				b.say("problem.large"))
			b.wantField("documentNumber", "C01X00T47")
			b.check("too large")
			// Without script the whole of it is sent, and more than the network buffers.
			b.uploadRefused(write(t, "IMG_0002.jpg", append(photo, make([]byte, 20_000_000)...)), nil, http.StatusRequestEntityTooLarge,
				b.say("problem.large"))
			b.uploadRefused(write(t, "IMG_0003.HEIC", []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic")), nil,
				http.StatusUnprocessableEntity, b.say("problem.file"))
			b.wantField("documentNumber", "C01X00T47")
			b.upload(scan(t), nil)
			b.want("scan.png")
			b.wantNoComplaints(http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity)
		})
	}
}

func TestCareless_Names(t *testing.T) {
	t.Parallel()
	// Emoji in a name and names that are too long are refused with the reason, and names of any script are
	// accepted, shown and fit on the screen.
	s := startService(t)
	p, b := s.newPlatform("Acme Pay", "SANDBOX"), newTab(t, phone)
	b.start(p.newLink(p.newBusiness(), nil))
	b.press(`a[href="/verification/owners/new"]`)
	long := strings.Repeat("Wolfeschlegelsteinhausenbergerdorff", 7)
	b.fill(owner("Ada 😀", strings.Repeat("x", 256), "123-45-6788", "40"))
	b.tick("UBO")
	b.pressTo("form button.primary", http.StatusUnprocessableEntity)
	b.want(b.say("problem.firstName"))
	b.want("Use at most 255 characters.")
	b.wantField("personalInfo.firstName", "Ada 😀")
	b.check("refused names")
	b.fill(map[string]string{"personalInfo.firstName": "ליאת", "personalInfo.lastName": "בן\u05beדוד"})
	b.press("form button.primary")
	b.want("ליאת בן\u05beדוד")
	b.addOwner(owner("Ada", long, "123-45-6789", "30"), "CONTROL_PERSON")
	b.want(long)
	b.check("names")
	b.wantNoComplaints(http.StatusUnprocessableEntity)
}

func TestCareless_SlowNetwork(t *testing.T) {
	t.Parallel()
	// An upload shows its progress, cannot be sent twice, and ends well on a slow network. One that a person
	// or the network breaks off stores nothing, and can be made again.
	p, customer, b := begin(t, phone)
	b.press(`a[href="/verification/documents/own"]`)
	photo := noise(t)
	b.setNetwork(100_000, false)
	b.fill(identityDocument("PASSPORT", ""))
	b.choose(photo)
	b.run(b.activate("form button.primary"), b.activate("form button.primary"))
	eventually(t, "the progress of the upload", func() bool {
		shown, err := chromedp.Run(b.ctx, chromedp.Evaluate[float64]("document.querySelector('progress')?.value ?? 0"))
		return err == nil && shown > 0
	})
	b.check("progress")
	b.run(chromedp.Reload()) // in the middle
	b.want(b.say("upload.title"))
	b.setNetwork(0, true)
	b.fill(identityDocument("PASSPORT", ""))
	b.choose(photo)
	b.run(b.activate("form button.primary"))
	b.want(b.say("upload.failed"))
	b.check("failed upload")
	p.wantValue("/documents?documentHolder="+customer, "totalCount", "0")

	b.setNetwork(1_000_000, false)
	b.press("form button.primary")
	b.want("noise.png")
	p.wantValue("/documents?documentHolder="+customer, "totalCount", "1")
}

// noise writes a picture of 2 MB.
func noise(t *testing.T) string {
	t.Helper()
	picture := image.NewGray(image.Rect(0, 0, 2000, 1000))
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(picture.Pix) // never fails
	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
		t.Fatal(err)
	}
	return write(t, "noise.png", file.Bytes())
}
