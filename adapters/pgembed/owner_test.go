package pgembed

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestStart_RootDropsPrivileges(t *testing.T) {
	t.Parallel()
	requireRoot(t)
	// Started by root, Postgres runs as an ordinary user, in a folder that this user
	// cannot reach by its path, and leaves the rest of the data folder to root.
	outer := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(outer, 0o700); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(outer, "data")

	s := startServer(t, Options{Dir: dir})

	uid := s.cluster.owner.uid
	if info, err := os.Stat("/proc/" + strings.TrimSpace(strings.Fields(pidFileText(t, s))[0])); err != nil || int(info.Sys().(*syscall.Stat_t).Uid) != uid || uid == 0 {
		t.Errorf("postgres does not run as %s (%d): %v", s.cluster.owner.name, uid, err)
	}
	enter := exec.Command("/bin/ls", s.cluster.path)
	enter.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(s.cluster.owner.gid)}}
	if enter.Run() == nil {
		t.Error("the folder is not as closed as this test wants it")
	}
	for name, want := range map[string]int{"": 0, "postgres": uid, "postgres.lock": 0, "postgres.log": 0} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := int(info.Sys().(*syscall.Stat_t).Uid); got != want || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%q belongs to %d with mode %v, want %d and closed to others", name, got, info.Mode(), want)
		}
	}
	// Postgres comes by its own files while it runs, not only at the start.
	conn := connect(t, s.SuperuserURL())
	for _, sql := range []string{"CREATE DATABASE another", "CHECKPOINT", "SELECT pg_switch_wal()", "SELECT pg_reload_conf()"} {
		execSQL(t, conn, sql)
	}
	queryValue[string](t, conn, "SELECT pg_read_file('PG_VERSION')")
}

func pidFileText(t *testing.T, s *Server) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.cluster.path, pidFileName))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestStart_UnprivilegedUser(t *testing.T) {
	t.Parallel()
	requireRoot(t)
	// An ordinary user runs the server as itself, also one with no name, as
	// containers have them; and root, coming later, leaves the data to that user.
	for name, uid := range map[string]int{"with a name": mustLookupUser(t, "nobody").uid, "without a name": 54321} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "without a name" && !userNamespacesAllowed() {
				t.Skip("this machine gives ordinary users no namespace")
			}
			dir := dataDirOwnedBy(t, uid)
			user := startHelper(t, uid, "hold", dir)
			user.postmasterPID(t)
			url, ok := RunningURL(dir)
			if !ok {
				t.Fatal("root does not see the user's server")
			}
			insertRow(t, url)
			user.stop(t)

			s := startServer(t, Options{Dir: dir})

			checkRow(t, s.URL())
			if s.cluster.owner.uid != uid {
				t.Errorf("root runs the data of user %d as %d", uid, s.cluster.owner.uid)
			}
		})
	}
}

func TestServer_OtherUsersCannotConnect(t *testing.T) {
	t.Parallel()
	requireRoot(t)
	// Another user of the machine who knows the address, and may enter the folders
	// above, cannot connect.
	for name, dir := range map[string]string{
		"short": filepath.Join(sharedDir(t), "data"),
		"long":  filepath.Join(sharedDir(t), strings.Repeat("long", 30)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, Options{Dir: dir})
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, url := range []string{s.URL(), s.SuperuserURL()} {
				if got := startHelper(t, 54321, "knock", url).firstLine; !strings.Contains(got, "permission denied") {
					t.Errorf("a stranger is answered %q", got)
				}
				if got := startHelper(t, s.cluster.owner.uid, "knock", url).firstLine; !strings.HasPrefix(got, "in ") {
					t.Errorf("this test cannot tell: the owner is answered %q", got)
				}
			}
		})
	}
}

func TestStart_RejectsDataOfOtherUser(t *testing.T) {
	t.Parallel()
	requireRoot(t)
	// An ordinary user is told whose data it is, instead of a riddle from Postgres.
	dir := dataDirOwnedBy(t, mustLookupUser(t, "nobody").uid)
	if err := os.Mkdir(filepath.Join(dir, clusterName), 0o755); err != nil { // root's
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, clusterName, "PG_VERSION"), []byte("15\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := startHelper(t, mustLookupUser(t, "nobody").uid, "hold", dir).firstLine
	if !strings.HasPrefix(got, "failed:") || !strings.Contains(got, "belongs to user root") {
		t.Errorf("the user is told %q", got)
	}
}

func TestStart_FixesOwnershipOfCopiedData(t *testing.T) {
	t.Parallel()
	requireRoot(t)
	// Root restores a copy of the folder, and all of it belongs to root: the next
	// start gives it back to the user that Postgres runs as.
	dir := initializedDir(t)
	s := startServer(t, Options{Dir: dir})
	insertRow(t, s.URL())
	stopServer(t, s)
	restored := filepath.Join(t.TempDir(), "restored")
	if out, err := exec.Command("cp", "-r", dir, restored).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	checkRow(t, startServer(t, Options{Dir: restored}).URL())
}

func mustLookupUser(t *testing.T, name string) owner {
	t.Helper()
	o, err := lookupUser(name)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// userNamespacesAllowed says whether an ordinary user may have a namespace.
func userNamespacesAllowed() bool {
	probe := exec.Command("unshare", "--user", "true")
	probe.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}
	return probe.Run() == nil
}
