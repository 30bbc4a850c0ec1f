# Carries MCP between standard input and output and the socket in the working directory; runs in a sandbox.
use strict;
use warnings;
use IO::Socket::UNIX;

sub gone { print STDERR "tools-stdio: Pinfold's tool server cannot be reached: $_[0]\n"; exit 1 }

sub carry {
    my ($from, $to) = @_;
    while (sysread($from, my $data, 65536)) {
        for (my $sent = 0; $sent < length $data;) {
            $sent += syswrite($to, $data, length($data) - $sent, $sent) // return;
        }
    }
}

$SIG{PIPE} = "IGNORE";
open(my $file, "<", $ARGV[0]) or gone($!);
chomp(my $token = <$file> // "");
my $server = IO::Socket::UNIX->new(Peer => "stdio.sock") or gone($!);
syswrite($server, "$token\n") or gone($!);
defined(my $sender = fork) or gone($!);
if (!$sender) {
    carry(\*STDIN, $server);
    shutdown($server, 1);
    exit;
}
carry($server, \*STDOUT);
kill "TERM", $sender;
