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
	// Started by root, Postgres runs as another user, even if that user cannot access the folder
	// by its path. The rest of the data folder belongs to root.
	outer := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(outer, 0o700); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(outer, "data")

	s := startServer(t, Options{Dir: dir})

	uid := s.cluster.owner.uid
	if info, err := os.Stat("/proc/" + strings.TrimSpace(strings.Fields(pidFileText(t, s))[0])); err != nil ||
		int(info.Sys().(*syscall.Stat_t).Uid) != uid || uid == 0 {
		t.Errorf("postgres does not run as %s (%d): %v", s.cluster.owner.name, uid, err)
	}
	list := exec.Command("/bin/ls", s.cluster.path)
	list.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(s.cluster.owner.gid)}}
	if list.Run() == nil {
		t.Error("the user can access the folder by its path")
	}
	for name, want := range map[string]int{"": 0, "postgres": uid, "postgres.lock": 0, "postgres.log": 0} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := int(info.Sys().(*syscall.Stat_t).Uid); got != want || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%q belongs to %d with mode %v, want %d and private", name, got, info.Mode(), want)
		}
	}
	// The running server can access its own files.
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
	// Postgres runs as the user who starts it, even one without a name, as in containers. If root
	// starts it later, it still runs as that user.
	for name, uid := range map[string]int{"with a name": mustLookupUser(t, "nobody").uid, "without a name": 54321} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "without a name" && !userNamespacesAllowed() {
				t.Skip("this machine does not allow user namespaces")
			}
			dir := dataDirOwnedBy(t, uid)
			user := startHelper(t, uid, "serve", dir)
			user.postmasterPID(t)
			url, ok := RunningURL(dir)
			if !ok {
				t.Fatal("root does not find the user's server")
			}
			insertRow(t, url)
			user.stop(t)

			s := startServer(t, Options{Dir: dir})

			checkRow(t, s.URL())
			if s.cluster.owner.uid != uid {
				t.Errorf("started by root, the data of user %d is run by user %d", uid, s.cluster.owner.uid)
			}
		})
	}
}

func TestServer_OtherUsersCannotConnect(t *testing.T) {
	t.Parallel()
	requireRoot(t)
	// Another user who knows the URL and can enter the folders above cannot connect.
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
				if got := startHelper(t, 54321, "connect", url).firstLine; !strings.Contains(got, "permission denied") {
					t.Errorf("another user gets %q", got)
				}
				if got := startHelper(t, s.cluster.owner.uid, "connect", url).firstLine; !strings.HasPrefix(got, "in ") {
					t.Errorf("the owner cannot connect: %q", got)
				}
			}
		})
	}
}

func TestStart_RejectsDataOfOtherUser(t *testing.T) {
	t.Parallel()
	requireRoot(t)
	// The error names the owner of the data.
	dir := dataDirOwnedBy(t, mustLookupUser(t, "nobody").uid)
	if err := os.Mkdir(filepath.Join(dir, clusterName), 0o755); err != nil { // root's
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, clusterName, "PG_VERSION"), []byte("15\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := startHelper(t, mustLookupUser(t, "nobody").uid, "serve", dir).firstLine
	if !strings.HasPrefix(got, "failed:") || !strings.Contains(got, "belongs to user root") {
		t.Errorf("got %q", got)
	}
}

func TestStart_FixesOwnershipOfCopiedData(t *testing.T) {
	t.Parallel()
	requireRoot(t)
	// The files of a copy made by root belong to root. The next start changes their owner to the
	// user that Postgres runs as.
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

// userNamespacesAllowed reports whether an unprivileged user may create a user namespace.
func userNamespacesAllowed() bool {
	probe := exec.Command("unshare", "--user", "true")
	probe.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}
	return probe.Run() == nil
}
